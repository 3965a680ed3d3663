"""Waits until a script has imported what is to be observed."""

import importlib.abc
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any


def after_import(names: tuple[str, ...], then: Callable[[], None]) -> None:
    """Calls `then` once one of these packages, and what it imports of them, has been imported."""
    if any(name in sys.modules for name in names):
        then()
    else:
        sys.meta_path.insert(0, _Finder(names, then))


class _Finder(importlib.abc.MetaPathFinder):
    def __init__(self, names: tuple[str, ...], then: Callable[[], None]) -> None:
        self._names = names
        self._then = then
        self._depth = 0
        """How many of them are being imported now, one within the other."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name not in self._names:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self)
        return spec

    def begin(self) -> None:
        self._depth += 1

    def end(self, *, good: bool) -> None:
        self._depth -= 1
        if good and not self._depth and self in sys.meta_path:
            sys.meta_path.remove(self)
            self._then()


class _Loader(importlib.abc.Loader):
    def __init__(self, loader: Any, finder: _Finder) -> None:
        self._loader = loader
        self._finder = finder

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._finder.begin()
        try:
            self._loader.exec_module(module)
        except BaseException:
            self._finder.end(good=False)
            raise
        self._finder.end(good=True)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
