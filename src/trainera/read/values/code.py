"""Values that are the script's own code: functions, classes, objects."""

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainera.read.values.base import PLAIN, Const, Opaque, Value

if TYPE_CHECKING:
    from trainera.read.interpret.site import Site


@dataclass(frozen=True)
class Function(Opaque):
    """A function of the script's, perhaps bound to an object."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: str
    bound: Value | None = None
    scope: int = 0
    """The frame it was defined in, for closures."""
    owner: ast.ClassDef | None = None
    defaults: tuple[tuple[str, Value], ...] | None = None
    """What parameters are if they are not given: computed where the function was defined."""

    def call(self, site: "Site[ast.Call]") -> Value | None:
        return site.machine.functions.call(self, site.node, site.frame)


@dataclass(frozen=True)
class Property(Opaque):
    """``loss = property(get, set)`` in a class of the script's."""

    get: Value
    set: Value | None = None


@dataclass(frozen=True)
class Class(Opaque):
    node: ast.ClassDef
    module: str

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        return site.machine.objects.of_class(self, name) or PLAIN

    def call(self, site: "Site[ast.Call]") -> Value | None:
        return site.machine.calls.instantiate(self, site.node, site.frame)


@dataclass(frozen=True)
class Choice(Opaque):
    """One of several functions or classes of the script's, chosen when it runs."""

    functions: tuple[Function | Class, ...]
    unseen: bool = False
    """It may be another one, which a name at run time stands for."""

    def call(self, site: "Site[ast.Call]") -> Value | None:
        return site.machine.calls.one_of(self, site.node, site.frame)


@dataclass(frozen=True)
class Object(Opaque):
    """An object of a class of the script's (not a network)."""

    cls: Class

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        objects = site.machine.objects
        if name == "__dict__":
            return objects.all_attributes(self)
        if objects.attribute(self.cls, name) is None:
            found = site.machine.special.ask(self, "__getattr__", [Const(name)], site.frame)
            if found is not None:
                return found
        value = objects.member(self, self.cls, name, site.frame)
        return objects.of_this_batch(ast.unparse(site.node), name, self.cls, value, site.frame)

    def index(self, site: "Site[ast.Subscript]") -> Value:
        key = site.eval(site.node.slice)
        found = site.machine.special.ask(self, "__getitem__", [key], site.frame)
        if found is not None:
            return found
        site.machine.gathering.gather(site.node.value, self, site.frame)
        return super().index(site)

    def call(self, site: "Site[ast.Call]") -> Value | None:
        method = site.machine.objects.member(self, self.cls, "__call__", site.frame)
        return method.call(site) if isinstance(method, Function | Choice | PartialCall) else None


@dataclass(frozen=True)
class SuperObject(Opaque):
    """An object as one of the base classes of its class sees it."""

    of: Object
    bases: tuple[Class, ...]

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        return site.machine.objects.of_base(self, name, site.frame)


@dataclass(frozen=True)
class PartialCall(Opaque):
    """A function with some of its arguments, by `functools.partial`."""

    function: Value
    positional: tuple[Value, ...]
    keywords: tuple[tuple[str, Value], ...]

    def call(self, site: "Site[ast.Call]") -> Value | None:
        site.machine.program.partials[site.node] = self
        return site.machine.calls.call_value(self.function, site.node, site.frame)
