"""The path of a script from file to converted files."""

from pathlib import Path

from trainera import engines, frameworks
from trainera.engines.base import Engine
from trainera.plan import Converted, Options, Plan
from trainera.planner import make_plan
from trainera.read.source.file import SourceFile, load
from trainera.read.source.modules import own_modules as find_modules


def _files(path: Path) -> dict[str, SourceFile]:
    return find_modules(load(path))


def engine_of(path: Path, name: str | None = None) -> Engine:
    """The engine of that name for a script, or the one that it is converted for by default."""
    return _engine(_files(path), name)


def _engine(files: dict[str, SourceFile], name: str | None) -> Engine:
    framework = frameworks.of(files)
    return engines.get(name or frameworks.get(framework).default_engine(files), framework)


def written_for(path: Path) -> tuple[str, str]:
    """The framework of a script, and the backend that it chooses, if there is a choice."""
    files = _files(path)
    framework = frameworks.of(files)
    return framework, frameworks.get(framework).backend(files)


def plan_script(path: Path, engine: str | None = None, options: Options | None = None) -> Plan:
    """What would change in a script; nothing is written."""
    files = _files(path)
    return make_plan(files, _engine(files, engine), options or Options())


def own_modules(path: Path) -> tuple[Path, ...]:
    """The script's own modules, without the script itself."""
    files = find_modules(load(path), everything=True)
    return tuple(file.path for name, file in files.items() if name != "__main__")


def import_roots(path: Path) -> tuple[str, tuple[Path, ...]]:
    """The package that a script is run as a module of, if it is, and where its modules are found.

    The script's own folder goes without saying.
    """
    script = load(path)
    files = find_modules(script, everything=True)
    roots = {
        file.path.absolute().parents[name.count(".") + (file.path.name == "__init__.py")]
        for name, file in files.items()
        if name != "__main__"
    }
    home = path.absolute().parent
    return script.package, tuple(sorted(root for root in roots if root != home))


def convert_script(
    path: Path,
    engine: str | None = None,
    options: Options | None = None,
    standalone: bool = False,
) -> tuple[Plan, tuple[Converted, ...]]:
    """The plan and, unless it refuses, every file that it changes."""
    files = _files(path)
    plan = make_plan(files, _engine(files, engine), options or Options())
    if plan.refusals:
        return plan, ()

    # libcst takes a while to import: only who changes something waits for it.
    from trainera.rewrite.apply import FileEdits, apply_all

    sources = {file.path: file.source for file in files.values()}
    return plan, apply_all(
        [
            FileEdits(
                path=changed,
                source=sources[changed],
                edits=tuple(edit for edit in plan.edits if edit.place.path == changed),
            )
            for changed in plan.files
        ],
        standalone=standalone,
    )
