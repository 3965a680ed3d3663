"""Values that are the script's own code: functions, classes, objects."""

import ast
from dataclasses import dataclass

from trainera.read.values.base import Value


@dataclass(frozen=True)
class Function(Value):
    """A function of the script's, perhaps bound to an object."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: str
    bound: Value | None = None
    scope: int = 0
    """The frame it was defined in, for closures."""
    owner: ast.ClassDef | None = None


@dataclass(frozen=True)
class Class(Value):
    node: ast.ClassDef
    module: str


@dataclass(frozen=True)
class Choice(Value):
    """One of several functions or classes of the script's, chosen when it runs."""

    functions: tuple[Function | Class, ...]
    unseen: bool = False
    """It may be another one, which a name at run time stands for."""


@dataclass(frozen=True)
class Object(Value):
    """An object of a class of the script's (not a network)."""

    cls: Class


@dataclass(frozen=True)
class SuperObject(Value):
    """An object as one of the base classes of its class sees it."""

    of: Object
    bases: tuple[Class, ...]


@dataclass(frozen=True)
class PartialCall(Value):
    """A function with some of its arguments, by `functools.partial`."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]
