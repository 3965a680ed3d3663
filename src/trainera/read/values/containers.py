"""Values that hold others."""

import ast
from dataclasses import dataclass

from trainera.read.values.base import Value


@dataclass(frozen=True)
class Items(Value):
    """A tuple or list of known length."""

    items: tuple[Value, ...]
    born: ast.AST | None = None


@dataclass(frozen=True)
class Many(Value):
    """A list of unknown length, or a dictionary with unknown keys."""

    element: Value
    born: ast.AST | None = None


@dataclass(frozen=True)
class Dictionary(Value):
    """A dictionary with known string keys."""

    items: tuple[tuple[str, Value], ...]

    def get(self, key: str) -> Value | None:
        return dict(self.items).get(key)


@dataclass(frozen=True)
class Record(Dictionary):
    """A named tuple or another object that only holds values, each under a name and in order."""
