"""The rules: one file each. A rule finds where a seam is and says why the script changes there."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules

FOLDERS = ("common", "torch", "keras")


def modules(framework: str) -> Iterator[tuple[str, str]]:
    """Name and module of every rule of a framework, in the order of the file names."""
    package = import_module(f"{__name__}.{framework}")
    for info in iter_modules(package.__path__):
        if not info.name.startswith("_"):
            yield info.name.replace("_", "-"), f"{package.__name__}.{info.name}"


def pages() -> dict[str, str]:
    """The explanation of every rule: its docstring, one for each framework that has it."""
    found: dict[str, str] = {}
    for framework in FOLDERS:
        for name, module in modules(framework):
            page = import_module(module).__doc__ or ""
            found[name] = f"{found[name]}\n---\n\n{page}" if name in found else page
    return found
