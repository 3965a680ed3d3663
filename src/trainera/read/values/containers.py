"""Values that hold others."""

import ast
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from trainera.read.values.base import NOWHERE, PLAIN, Const, Origins, Value

if TYPE_CHECKING:
    from trainera.read.interpret.site import Site

GROWS = ("append", "extend", "insert", "add")


@dataclass(frozen=True)
class Items(Value):
    """A tuple or list of known length."""

    items: tuple[Value, ...]
    born: ast.AST | None = None
    made_at: Origins = field(default=frozenset(), compare=False)
    """Where it was made, if it is no tuple (`interpret/heap.py`)."""

    @property
    def held(self) -> tuple[Value, ...]:
        return self.items

    def iterate(self) -> tuple[Value, ...]:
        return self.items

    def unpack(self, place: int, length: int) -> Value | None:
        return self.items[place] if len(self.items) == length else None

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        # The pair that `max` and its like give.
        return site.machine.joined(self) if name in ("values", "indices") else PLAIN

    def index(self, site: "Site[ast.Subscript]") -> Value:
        if isinstance(site.node.slice, ast.Slice):
            return self._some(site.node.slice, site)
        place = at(site.eval(site.node.slice), len(self.items))
        found = site.machine.joined(self) if place is None else self.items[place]
        return as_it_is_now(found, site)

    def _some(self, cut: ast.Slice, site: "Site[ast.Subscript]") -> Value:
        """``window[-3:]``: a list of its own, of these items or, if that is not known, of some."""
        ends = [
            Const(None) if part is None else site.gathered(part)
            for part in (cut.lower, cut.upper, cut.step)
        ]
        known = [end.value for end in ends if isinstance(end, Const) and not end.made_at]
        if len(known) == len(ends) and all(isinstance(one, int | None) for one in known):
            if known[2] != 0:
                return Items(self.items[slice(*known)], self.born)
        return Many(site.machine.joined(self), self.born)

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        if name in GROWS:
            return site.machine.methods.grow(self, name, site.node, site.frame)
        return site.machine.methods.of_list(self, name, site.node, site.frame)


@dataclass(frozen=True)
class Many(Value):
    """A list of unknown length, or a dictionary with unknown keys."""

    element: Value
    born: ast.AST | None = None
    made_at: Origins = field(default=frozenset(), compare=False)

    @property
    def held(self) -> tuple[Value, ...]:
        return (self.element,)

    def iterate(self) -> tuple[Value, ...]:
        return (self.element,)

    def index(self, site: "Site[ast.Subscript]") -> Value:
        return site.machine.subscripts.of_many(self, site.node, site.frame)

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        if name in ("items", "values") and not site.node.args:
            return Many(Items((PLAIN, self.element))) if name == "items" else self
        if name in GROWS:
            return site.machine.methods.grow(self, name, site.node, site.frame)
        return site.machine.methods.of_list(self, name, site.node, site.frame)


@dataclass(frozen=True)
class Dictionary(Value):
    """A dictionary with known string keys."""

    items: tuple[tuple[str, Value], ...]
    made_at: Origins = field(default=frozenset(), compare=False)

    @property
    def held(self) -> tuple[Value, ...]:
        return tuple(value for _, value in self.items)

    def get(self, key: str) -> Value | None:
        return dict(self.items).get(key)

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        found = self.get(name)
        if found is None and site.is_handed_over():  # `max(scores, key=scores.get)`
            return site.machine.gathering.gather(site.node.value, self, site.frame)
        return found or PLAIN

    def index(self, site: "Site[ast.Subscript]") -> Value:
        key = site.eval(site.node.slice)
        if isinstance(key, Const) and isinstance(key.value, str):
            return self._now(key.value, site)
        return self.entry(key) or site.machine.by_any_name(Items(self.held))

    def _now(self, key: str, site: "Site[ast.Call | ast.Subscript]") -> Value:
        """What stands under a key: no longer the number it began with, if that may be changed."""
        value = self.get(key) or PLAIN
        if isinstance(value, Const) and isinstance(value.value, int | float):
            files = site.machine.program.files.values()
            if any({key, ...} & file.keys_written for file in files):
                return PLAIN
        return as_it_is_now(value, site)

    def entry(self, key: Value) -> Value | None:
        """What stands under a key that is no known string."""
        return None

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        if name in ("items", "values", "keys"):
            values = site.machine.joined(Items(self.held))
            if name == "items":
                return Many(Items((PLAIN, values)))
            return Many(values) if name == "values" else PLAIN
        if name == "get" and site.node.args:
            key = site.eval(site.node.args[0])
            if isinstance(key, Const) and isinstance(key.value, str):
                found = self._now(key.value, site)
                return site.machine.methods.or_default(found, site.node, site.frame)
            others = [site.eval(argument) for argument in site.node.args[1:]]
            return site.machine.by_any_name(Items((*self.held, *others)))
        return site.machine.methods.of_dictionary(self, name, site.node, site.frame)


@dataclass(frozen=True)
class Record(Dictionary):
    """A named tuple or another object that only holds values, each under a name and in order."""

    def iterate(self) -> tuple[Value, ...]:
        return self.held

    def unpack(self, place: int, length: int) -> Value | None:
        return self.items[place][1] if len(self.items) == length else None

    def entry(self, key: Value) -> Value | None:
        place = at(key, len(self.items))
        return None if place is None else self.items[place][1]


def copied(value: Value) -> Value:
    """The same things in a container of their own: what is put into one is not in the other."""
    if isinstance(value, Items | Many | Dictionary):
        return replace(value, made_at=NOWHERE)
    return value


def as_it_is_now(value: Value, site: "Site[ast.Call | ast.Subscript]") -> Value:
    """An item of a container: a zero from before this batch may be a total by now."""
    path = site.machine.path
    zero = isinstance(value, Const) and isinstance(value.value, int | float) and not value.value
    if zero and path.open_loops and site.frame.policy.follows_lifetimes:
        if isinstance(value, Const) and value.born is not path.loop:
            return PLAIN
    return value


def at(key: Value, length: int) -> int | None:
    """The place that an index names, if it is known and there."""
    if isinstance(key, Const) and isinstance(key.value, int):
        return key.value if -length <= key.value < length else None
    return None
