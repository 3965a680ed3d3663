"""What a value is by itself: plain, constant, of one worker, or of a library."""

import ast
from dataclasses import dataclass
from typing import Any

Nodes = frozenset[ast.AST]
NOBODY: Nodes = frozenset()


@dataclass(frozen=True)
class Value:
    """Base of all values; by itself: a plain value, the same on every worker."""


@dataclass(frozen=True)
class Const(Value):
    """A known constant. `born` is the batch loop in whose body it was written down, if any."""

    value: Any
    born: ast.AST | None = None


@dataclass(frozen=True)
class PerWorker(Value):
    """A value each worker has of its own without it being a share: clock, file system."""

    what: str


@dataclass(frozen=True)
class HashOrdered(Value):
    """A set: the same items on every worker, perhaps in another order."""


@dataclass(frozen=True)
class FirstOnly(Value):
    """What only the first worker has: a file it writes, a run of a tracking service."""


@dataclass(frozen=True)
class Qualified(Value):
    """Something of a library, by its dotted name."""

    name: str


@dataclass(frozen=True)
class LibraryObject(Value):
    """What calling something of a library gave, role unknown."""

    origin: ast.AST
    name: str


PLAIN = Value()
UNKNOWN_YET = Const(None)
"""What a function gives that is still being read: where paths meet, the other one counts."""


@dataclass(frozen=True)
class OwnModule(Value):
    """A module of the script's own."""

    name: str
