"""Items, by what they are taken from."""

import ast

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import entry, is_entry
from trainera.read.values import (
    PLAIN,
    Const,
    Dictionary,
    FirstOnly,
    Items,
    Many,
    Object,
    Parameters,
    Record,
    Value,
)
from trainera.read.values.gathered import gathered_of, sized
from trainera.read.values.join import by_any_name, element


class Subscripts(Part):
    """Items, by what they are taken from."""

    def read(self, node: ast.Subscript, frame: Frame) -> Value:
        named = self.machine.namespaces.by_its_name(node, frame)
        if named is not None:
            return named
        kept = self._kept_by_name(node, frame)
        if kept is not None:
            return kept
        owner = self.machine.eval(node.value, frame)
        known = self.machine.libraries.item(node, owner, frame)
        if known is not None:
            return known
        if isinstance(owner, Items):
            key = self.machine.eval(node.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, int):
                if -len(owner.items) <= key.value < len(owner.items):
                    return owner.items[key.value]
            return element(owner)
        if isinstance(owner, Dictionary):
            key = self.machine.eval(node.slice, frame)
            if isinstance(key, Const) and isinstance(key.value, str):
                return owner.get(key.value) or PLAIN
            if isinstance(owner, Record) and isinstance(key, Const) and isinstance(key.value, int):
                if -len(owner.items) <= key.value < len(owner.items):
                    return owner.items[key.value][1]
            return by_any_name(element(Items(tuple(value for _, value in owner.items))))
        if isinstance(owner, Many | Parameters):
            row = self.machine.own_rows.row_of_table(node, owner, frame)
            if row is not None:
                return row
            self.machine.gathering.evaluate(node.slice, frame)
            return owner if isinstance(node.slice, ast.Slice) else element(owner)
        parts = _parts(node.slice)
        row = self.machine.own_rows.row_of_table(node, owner, frame)
        if row is not None:
            return row
        made = gathered_of(owner, *(self.machine.gathering.evaluate(part, frame) for part in parts))
        if isinstance(owner, FirstOnly):
            return owner
        return made if parts == [node.slice] else sized(made)

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
