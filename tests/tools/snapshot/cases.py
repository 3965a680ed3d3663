"""The scripts of a snapshot: found, copied with their own modules, and found again in the copy.

The copy makes a snapshot complete in itself: another version of trainera is asked about exactly
the same bytes, whatever has become of the corpus and the tests since.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from trainera import pipeline
from trainera.errors import UserError
from trainera.plan import Options

ROOT = Path(__file__).parents[3]
SCRIPTS, CASES = "scripts", "cases.json"
DEFAULTS = [
    *("tests/corpus/*/train.py", "tests/corpus/refused/*.py", "examples/*.py"),
    *("examples/package/train.py", "src/trainera/workloads/*.py", "benchmarks/cnn*.py"),
    *("tests/engines/scripts/*.py", "tests/crew/scripts/*.py", "tests/verify/scripts/*.py"),
]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One script with the options it is converted with."""

    name: str
    folder: Path = field(compare=False)
    script: str
    options: Options = field(default_factory=Options)
    origin: str = ""
    """Where it comes from, for a reader: a path or the name of a test."""

    @property
    def path(self) -> Path:
        return self.folder / self.script


def contents(script: Path) -> dict[str, bytes]:
    """The script and its own modules, by their paths below the script's folder."""
    found = {script.name: script.read_bytes()}
    try:
        modules = pipeline.own_modules(script)
    except (UserError, RecursionError):
        return found  # What cannot be parsed imports nothing.
    return found | {
        path.relative_to(script.parent).as_posix(): path.read_bytes() for path in modules
    }


def digest(files: dict[str, bytes], options: Options) -> str:
    """Equal for cases that trainera cannot tell apart."""
    parts = [(name, sha256(data).hexdigest()) for name, data in sorted(files.items())]
    return sha256(json.dumps([parts, asdict(options)]).encode()).hexdigest()[:16]


def write_files(files: dict[str, bytes], folder: Path) -> None:
    for name, data in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def default_cases() -> list[Case]:
    """The scripts of this repository that are files."""
    return [_case(path, ROOT) for glob in DEFAULTS for path in sorted(ROOT.glob(glob))]


def given_cases(paths: Iterable[Path]) -> list[Case]:
    """Scripts by name; of a directory those that go backward."""
    found = []
    for path in map(Path.absolute, paths):
        if path.is_dir():
            below = sorted(path.rglob("*.py"))
            scripts = [one for one in below if one.is_file() and b".backward" in one.read_bytes()]
            found += [_case(one, path.parent) for one in scripts]
        else:
            inside = path.is_relative_to(Path.cwd())
            found.append(_case(path, Path.cwd() if inside else Path(path.anchor)))
    return found


def _case(path: Path, root: Path) -> Case:
    name = path.relative_to(root).with_suffix("").as_posix()
    return Case(name=name, folder=path.parent, script=path.name, origin=f"{name}.py")


def copy(cases: Iterable[Case], folder: Path) -> list[Case]:
    """The cases as they stand in a snapshot, each once."""
    seen: set[str] = set()
    copied: dict[str, Case] = {}
    for case in cases:
        files = contents(case.path)
        key = digest(files, case.options)
        if key in seen:
            continue
        seen.add(key)
        name = case.name if case.name not in copied else f"{case.name}-{key}"
        home = folder / SCRIPTS / name
        write_files(files, home)
        copied[name] = Case(
            name=name, folder=home, script=case.script, options=case.options, origin=case.origin
        )
    _save(copied.values(), folder)
    return list(copied.values())


def _save(cases: Iterable[Case], folder: Path) -> None:
    rows = [{k: v for k, v in asdict(case).items() if k != "folder"} for case in cases]
    (folder / CASES).write_text(json.dumps(rows, indent=1) + "\n")


def load(folder: Path) -> list[Case]:
    """The cases that a snapshot holds."""
    rows = json.loads((folder / CASES).read_text())
    return [Case(**_loaded(row), folder=folder / SCRIPTS / row["name"]) for row in rows]


def _loaded(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "options": options_from(row["options"])}


def options_from(data: dict[str, Any]) -> Options:
    return Options(**{**data, "extras": tuple(data["extras"])})


def within(cases: list[Case], times: dict[str, float], budget_s: float) -> list[Case]:
    """A sample that takes about so many seconds of one process: all that are files, if they fit,
    then what the tests hold, spread over all of them. What takes long alone is left out."""
    return list(_fitting(sorted(cases, key=_turn), times, budget_s))


def _turn(case: Case) -> tuple[bool, str]:
    return "::" in case.origin, sha256(case.name.encode()).hexdigest()


def _fitting(cases: list[Case], times: dict[str, float], budget_s: float) -> Iterator[Case]:
    left = budget_s
    for case in cases:
        took = times.get(case.name, 0.0)
        if took <= min(left, budget_s / 20):
            left -= took
            yield case
