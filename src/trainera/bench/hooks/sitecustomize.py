"""Python imports this by itself before a script that is measured, because its folder comes first.

So the script is run as it is, sequential or converted, and needs no word of measuring. The folder
then leaves the search path, and a `sitecustomize` that the machine has of its own is run as ever.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def _start() -> None:
    here = Path(__file__).absolute().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).absolute() != here]
    own = PathFinder.find_spec("sitecustomize", sys.path)
    if own is not None:
        _execute(own)
    _load(here / "meter.py").start(_load)


def _load(place: Path) -> ModuleType:
    """A module by its path, because trainera itself must not be imported here."""
    name = f"_trainera_{place.stem}"
    spec = spec_from_file_location(name, place)
    if spec is None:
        raise ImportError(f"cannot load {place}")
    sys.modules[name] = module = _execute(spec)
    return module


def _execute(spec: ModuleSpec) -> ModuleType:
    module = module_from_spec(spec)
    if spec.loader is not None:
        spec.loader.exec_module(module)
    return module


_start()
