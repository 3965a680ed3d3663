"""Where the script's own modules are looked for, in the order in which Python would find them.

Own code is what belongs to the project: beside the script, on `PYTHONPATH`, and between the script
and the project's top, where a working directory, an editable install or a line of the script's own
puts it on the path. What is installed for everybody is a library, whatever a folder is called.
"""

import os
import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from trainera.read.source.file import SourceFile

TOPS = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
"""What stands at the top of a project."""
NOT_OWN = {"trainera"}
FRAMEWORKS = set(
    "accelerate deepspeed horovod ignite jax keras lightning numpy pytorch_lightning ray sklearn "
    "tensorflow torch torchvision transformers".split()
)
"""A folder further up that has such a name is not what a script means, installed here or not."""


class Roots:
    """Finds the files of a script's own modules."""

    def __init__(self, script: SourceFile) -> None:
        first = home_of(script)
        self.sure = [first, *_python_path()]
        """Python looks here before it looks for libraries."""
        self.others = [root for root in _upwards(script.path.absolute()) if root not in self.sure]
        """It may look here afterwards."""

    def locate(self, name: str) -> Path | None:
        """The file of a module by its dotted name, if it is the script's own."""
        if not name or not all(part.isidentifier() for part in name.split(".")):
            return None
        top = name.partition(".")[0]
        if top in NOT_OWN:
            return None
        for root in self.sure:
            if (found := _within(root, name, top)) is not None:
                return found if found.is_file() else None
        if is_installed(top):
            return None
        for root in self.others:
            if (found := _within(root, name, top)) is not None:
                return found if found.is_file() else None
        return None


def home_of(script: SourceFile) -> Path:
    """What stands first on the path: the script's folder, or what its package lies in."""
    home = script.path.parent
    for _ in script.package.split(".") if script.package else ():
        home = home.parent if home.name else home.absolute().parent
    return home


def _within(root: Path, name: str, top: str) -> Path | None:
    """The file in a folder; one that is not there if it has the package, but not the module."""
    stem = root.joinpath(*name.split("."))
    for path in (stem / "__init__.py", stem.with_suffix(".py")):
        if path.is_file():
            return path
    has_package = (root / top / "__init__.py").is_file() or (root / f"{top}.py").is_file()
    return stem.with_suffix(".py") if has_package else None


def _python_path() -> list[Path]:
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return [Path(part).absolute() for part in given if part]


def _upwards(script: Path) -> list[Path]:
    """The folders between the script and the top of its project, and what they keep sources in."""
    marked = [above for above in script.parents if any((above / top).exists() for top in TOPS)]
    tops = marked[:1] + [above for above in script.parents if above == Path.cwd()]
    if not tops:
        return []
    highest = min(tops, key=lambda top: len(top.parts))
    between = [above for above in script.parents if above == highest or highest in above.parents]
    return [root for above in between for root in (above, above / "src") if root.is_dir()]


@cache
def is_installed(top: str) -> bool:
    """Whether a module of that name comes with Python, or is installed or as good as that."""
    if top in sys.stdlib_module_names or top in FRAMEWORKS:
        return True
    places = [part for part in sys.path if "site-packages" in part or "dist-packages" in part]
    return PathFinder.find_spec(top, places) is not None
