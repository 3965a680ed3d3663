"""Serves the user's own modules that were converted from memory, by the path of their file.

Finding stays with Python: only the loader of a module whose file was converted is exchanged, so
packages, relative imports and search order are what they are without trainera.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType


class ConvertedLoader(SourceFileLoader):
    """Loads a module whose code is at hand. No bytecode file is read or written."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str) -> CodeType:
        return self._code


class ConvertedFinder(MetaPathFinder):
    """Asks the other finders, and steps in where they found a converted file."""

    def __init__(self, codes: Mapping[str, CodeType]) -> None:
        self._codes = codes
        # Looking for every module twice would be felt: torch imports more than a thousand.
        paths = [Path(path) for path in codes]
        self._names = {p.parent.name if p.name == "__init__.py" else p.stem for p in paths}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.rpartition(".")[2] not in self._names:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                return self._converted(spec)
        return None

    def _converted(self, spec: ModuleSpec) -> ModuleSpec | None:
        if not spec.has_location or spec.origin is None:
            return None
        code = self._codes.get(str(Path(spec.origin).resolve()))
        if code is None:
            return None
        spec.loader = ConvertedLoader(spec.name, spec.origin, code)
        spec.cached = None
        return spec
