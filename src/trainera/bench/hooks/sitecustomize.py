"""Python imports this by itself before a script that is measured, because its folder comes first.

So the script is run as it is, sequential or converted, and needs no word of measuring. The folder
then leaves the search path, and a `sitecustomize` that the machine has of its own is run as ever.
"""

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def _start() -> None:
    here = Path(__file__).absolute().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).absolute() != here]
    meter = spec_from_file_location("_trainera_meter", here / "meter.py")
    own = PathFinder.find_spec("sitecustomize", sys.path)
    for spec in (own, meter):
        if spec is not None and spec.loader is not None:
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            if spec is meter:
                sys.modules[spec.name] = module
                module.start()


_start()
