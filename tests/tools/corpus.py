"""The corpus: its cases, and how to convert and run them."""

import re
import shutil
import sys
from functools import cache
from pathlib import Path
from typing import Any

from tests.tools.runs import Runner
from trainera.pipeline import convert_script, own_modules
from trainera.plan import Converted, Options

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CORPUS = Path(__file__).parent.with_name("corpus")
CASES = sorted(path.parent for path in CORPUS.glob("*/case.toml"))
REFUSED = sorted((CORPUS / "refused").glob("*.py"))
TOLERANCE = {"float64": 1e-9, "float32": 2e-3}


def settings(case: Path) -> dict[str, Any]:
    return tomllib.loads((case / "case.toml").read_text())


def tolerance_of(case: Path) -> float:
    found: float = settings(case).get("tolerance", TOLERANCE[settings(case)["dtype"]])
    return found


def write_converted(
    case: Path,
    folder: Path,
    *,
    standalone: bool = False,
    engine: str = "ddp",
    options: Options | None = None,
) -> Path:
    """Writes a converted case into a folder and returns its script."""
    converted = _converted(case / "train.py", engine, options, standalone)
    folder.mkdir(exist_ok=True)
    for module in own_modules(case / "train.py"):
        target = folder / module.relative_to(case)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(module, target)
    for file in converted:
        (folder / file.path.relative_to(case)).write_bytes(file.after)
    return folder / "train.py"


@cache
def _converted(
    script: Path, engine: str, options: Options | None, standalone: bool
) -> tuple[Converted, ...]:
    """The files that differ. The same whatever the number of workers, so it is made once."""
    plan, converted = convert_script(script, engine, options, standalone)
    assert not plan.refusals, plan.refusals
    return converted


def output_of(
    runner: Runner,
    case: Path,
    script: Path,
    folder: Path,
    workers: int,
    hidden: list[str] | None = None,
    engine: str = "ddp",
    shares: str = "",
) -> str:
    """What one run of a case prints; it must end well."""
    folder.mkdir(exist_ok=True)
    arguments = settings(case).get("arguments", [])
    env = {"TRAINERA_SHARES": shares} if shares else {}
    run = runner.run(script, folder, arguments, workers, hidden=hidden, engine=engine, env=env)
    assert run.ok, run.report()
    return run.output


def told(output: str, ignore: str | None) -> str:
    """The lines that count: a progress bar shows itself more often when it takes longer."""
    lines = output.splitlines()
    return "\n".join(line for line in lines if not (ignore and re.search(ignore, line)))
