"""What a value is by itself: plain, constant, of one worker, or of a library."""

import ast
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from trainera.read.interpret.site import Site

Nodes = frozenset[ast.AST]
NOBODY: Nodes = frozenset()
Origins = frozenset[tuple[int, ast.AST]]
"""Where containers were made: the way in which a function is called, and the expression."""
NOWHERE: Origins = frozenset()


class Answer(Enum):
    """What can be told before the script runs; MAYBE never passes for NO."""

    YES = "yes"
    NO = "no"
    MAYBE = "maybe"


@dataclass(frozen=True)
class Value:
    """Base of all values; by itself: a plain value, the same on every worker.

    Where a value is asked for something it answers for itself. What only a library knows, such as
    what a network does, the library is asked before (`interpret.library`).
    """

    maybe_none: bool = field(default=False, kw_only=True)
    """Whether it is None on some path: then a test whether it is has to be read both ways."""

    @property
    def held(self) -> "tuple[Value, ...] | None":
        """What a container holds; None for what is none."""
        return None

    def iterate(self) -> "tuple[Value, ...]":
        """What iterating may give; nothing if it is plain values."""
        return ()

    def unpack(self, place: int, length: int) -> "Value | None":
        """One of so many items; None if they are told by what iterating gives."""
        return None

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> "Value":
        """What an attribute is."""
        return PLAIN

    def index(self, site: "Site[ast.Subscript]") -> "Value":
        """What an item is."""
        return site.machine.subscripts.of_plain(self, site.node, site.frame)

    def call(self, site: "Site[ast.Call]") -> "Value | None":
        """What calling it gives; None if that is not known."""
        return None

    def method(self, name: str, site: "Site[ast.Call]") -> "Value | None":
        """What calling a method gives; None if it is to be looked up as an attribute."""
        return site.machine.methods.of_plain(site.node, name, self, site.frame)


class Opaque(Value):
    """Base of what has only those methods that its class or a library gives it."""

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        return None


@dataclass(frozen=True)
class Union(Opaque):
    """One of several values that do different things, chosen when the script runs.

    Whatever it is asked, each of them is asked, and what comes out meets again.
    """

    members: tuple[Value, ...]

    @property
    def held(self) -> tuple[Value, ...]:
        return self.members

    def iterate(self) -> tuple[Value, ...]:
        return tuple(one for member in self.members for one in member.iterate() or (PLAIN,))

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        return site.each(self.members, site.machine.attributes.of)

    def index(self, site: "Site[ast.Subscript]") -> Value:
        return site.each(self.members, site.machine.subscripts.of)

    def call(self, site: "Site[ast.Call]") -> Value | None:
        return site.each(self.members, site.machine.calls.call_of)

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        return site.each(self.members, site.machine.calls.method_of)


@dataclass(frozen=True)
class Const(Value):
    """A known constant. `born` is the batch loop in whose body it was written down, if any."""

    value: Any
    born: ast.AST | None = None
    made_at: Origins = field(default=frozenset(), compare=False)
    """Where, if it is a tensor, which may be changed later."""


@dataclass(frozen=True)
class PerWorker(Value):
    """A value each worker has of its own without it being a share: clock, file system."""

    what: str

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        return self


@dataclass(frozen=True)
class HashOrdered(Value):
    """A set: the same items on every worker, perhaps in another order."""


@dataclass(frozen=True)
class FirstOnly(Opaque):
    """What only the first worker has: a file it writes, a run of a tracking service."""

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        return self

    def index(self, site: "Site[ast.Subscript]") -> Value:
        super().index(site)
        return self


@dataclass(frozen=True)
class Qualified(Opaque):
    """Something of a library, by its dotted name."""

    name: str

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        full = f"{self.name}.{name}"
        return site.machine.libraries.named(full) or Qualified(full)

    def call(self, site: "Site[ast.Call]") -> Value | None:
        return site.machine.calls.qualified(self.name, site.node, site.frame)


@dataclass(frozen=True)
class LibraryObject(Value):
    """What calling something of a library gave, role unknown."""

    origin: ast.AST
    name: str


@dataclass(frozen=True)
class OwnModule(Opaque):
    """A module of the script's own."""

    name: str

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        if name == "__dict__":
            return site.machine.namespaces.namespace(self.name)
        inner = f"{self.name}.{name}"
        site.machine.definitions.enter_module(inner)
        program = site.machine.program
        found = program.modules.get(self.name, {}).get(name)
        if found is None and inner in program.files:
            found = OwnModule(inner)
        return found or PLAIN


PLAIN = Value()
UNKNOWN_YET = Const(None)
"""What a function gives that is still being read: where paths meet, the other one counts."""


Some = TypeVar("Some", bound=Value)


def changed(value: Some, **fields: Any) -> Some:
    """The value with other fields. Most often they are the same, and a copy would cost more."""
    if all(getattr(value, name) == field for name, field in fields.items()):
        return value
    return replace(value, **fields)
