"""Items, by what they are taken from."""

import ast

from trainera.read.interpret.heap import ANY
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.site import Site
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import entry, is_entry
from trainera.read.values import (
    Const,
    Count,
    Object,
    Share,
    Value,
)
from trainera.read.values.containers import copied
from trainera.read.values.gathered import gathered_of, sized
from trainera.read.values.join import element


class Subscripts(MachinePart):
    """Items, by what they are taken from."""

    def read(self, node: ast.Subscript, frame: Frame) -> Value:
        named = self.machine.namespaces.by_its_name(node, frame)
        if named is not None:
            return named
        kept = self._kept_by_name(node, frame)
        if kept is not None:
            return kept
        owner = self.machine.eval(node.value, frame)
        if isinstance(owner, Const):
            self.machine.heap.put_unnamed(owner, ANY, [], frame)  # a view, perhaps
        return self.of(owner, Site(self.machine, node, frame))

    def of(self, owner: Value, site: Site[ast.Subscript]) -> Value:
        """The item of a value."""
        if site.frame.policy.inside_network and not isinstance(owner, Share):
            keys = (self.machine.eval(part, site.frame) for part in _parts(site.node.slice))
            if any(isinstance(key, Count) for key in keys):
                # What is taken may hang on how many rows there are.
                self.notes.unsure_of(site.node, site.frame)
        known = self.machine.libraries.item(site.node, owner, site.frame)
        return known if known is not None else owner.index(site)

    def of_plain(self, owner: Value, node: ast.Subscript, frame: Frame) -> Value:
        """An item of a value of which little is known."""
        row = self.machine.own_rows.row_of_table(node, owner, frame)
        if row is not None:
            return row
        parts = _parts(node.slice)
        made = gathered_of(owner, *(self.machine.gathering.evaluate(part, frame) for part in parts))
        return made if parts == [node.slice] else sized(made)

    def of_many(self, owner: Value, node: ast.Subscript, frame: Frame) -> Value:
        """An item of a list whose items are all alike, or some of them."""
        row = self.machine.own_rows.row_of_table(node, owner, frame)
        if row is not None:
            return row
        self.machine.gathering.evaluate(node.slice, frame)
        return copied(owner) if isinstance(node.slice, ast.Slice) else element(owner)

    def _kept_by_name(self, node: ast.Subscript, frame: Frame) -> Value | None:
        """``self.models["net"]``, if an object keeps that there."""
        if not is_entry(node) or not isinstance(node.value, ast.Attribute):
            return None
        owner = self.machine.eval(node.value.value, frame)
        return (
            self.machine.objects.attribute(owner.cls, entry(node))
            if isinstance(owner, Object)
            else None
        )


def _parts(key: ast.expr) -> list[ast.expr]:
    """An index without the colons and commas in it."""
    if isinstance(key, ast.Tuple):
        return [inner for part in key.elts for inner in _parts(part)]
    if isinstance(key, ast.Slice):
        return [part for part in (key.lower, key.upper, key.step) if part is not None]
    return [key]
