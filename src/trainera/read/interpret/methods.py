"""Calls of methods, by what they are called on."""

import ast
from dataclasses import replace
from typing import TYPE_CHECKING

from trainera.read.interpret.gathering import CHANGES, TAKES_OUT
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.site import Site
from trainera.read.interpret.state import Frame
from trainera.read.values import (
    PLAIN,
    Const,
    Count,
    Dictionary,
    Gathered,
    HashOrdered,
    Items,
    Lost,
    Many,
    Parameters,
    Share,
    Value,
)
from trainera.read.values.containers import at, copied
from trainera.read.values.contents import (
    first_share,
    has_parameters,
    holds_share,
    put_together,
)
from trainera.read.values.gathered import aligned_like, gathered_of, is_aligned, sized
from trainera.read.values.join import element, is_unnamed, join

if TYPE_CHECKING:
    from trainera.read.interpret.machine import Machine


class Methods(MachinePart):
    """Calls of methods, by what they are called on."""

    def __init__(self, machine: "Machine") -> None:
        super().__init__(machine)
        self._popped: dict[ast.Call, Value] = {}
        """What of a batch was taken out where: a call may be evaluated twice, but takes it once."""

    def call(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        known = self.machine.libraries.method(node, function, owner, frame)
        if known is not None:
            return known
        made = owner.method(function.attr, Site(self.machine, node, frame))
        looks_up = function.attr == "get" and len(node.args) == 1 and not node.keywords
        return join(made, Const(None)) if looks_up and made is not None else made

    def grow(self, owner: Items | Many, name: str, node: ast.Call, frame: Frame) -> Value:
        """A list grows. One that lives for a batch may hold shares; others hold wholes."""
        loop = self.path.loop
        values = [self.machine.eval(argument, frame) for argument in node.args]
        if not values:
            return PLAIN
        many = name == "extend" and isinstance(values[-1], Items | Many | Parameters)
        value = element(values[-1]) if many else values[-1]
        outlives = frame.policy.follows_lifetimes and (loop is None or owner.born is not loop)
        if outlives and (holds_share(value) or self.machine.objects.of_a_batch(value)):
            value = self.machine.calls.gathered_arguments(node, frame)[-1]
        target = node.func.value if isinstance(node.func, ast.Attribute) else None
        if target is not None:
            self.machine.writes.leaks(node, target, value, frame)
        if has_parameters(owner) and isinstance(target, ast.Name):
            self.machine.names.bind(target.id, put_together(owner, value), frame)
        elif isinstance(target, ast.Name) and value != PLAIN:
            if owner != Items((), owner.born):
                value = join(element(owner), value)
            self.machine.names.bind(target.id, Many(value, owner.born, owner.made_at), frame)
        return PLAIN

    def of_list(self, owner: Items | Many, name: str, node: ast.Call, frame: Frame) -> Value | None:
        """A method of a list or a tuple that may hold parts of a batch."""
        if name == "copy":
            return copied(owner)
        if name == "numel" and isinstance(owner, Items):
            counts = [item for item in owner.items if isinstance(item, Share)]
            if len(counts) == 1 and isinstance(counts[0], Count):
                return counts[0]  # sizes, of which one is the number of samples
        if name not in ("pop", "reverse") or not holds_share(owner):
            return self.of_holder(owner, name, node, frame)
        taken = [self.machine.eval(argument, frame) for argument in node.args] or [Const(-1)]
        place = at(taken[0], len(owner.items)) if isinstance(owner, Items) else None
        value = element(owner) if place is None else owner.held[place]
        target = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(target, ast.Name):  # what is where now is not followed
            grown = Many(element(owner), owner.born, owner.made_at)
            self.machine.names.bind(target.id, grown, frame)
        elif any(item != owner.held[0] for item in owner.held):
            return self._changed(owner, name, node, frame)
        return value if name == "pop" else PLAIN

    def of_dictionary(
        self, owner: Dictionary, name: str, node: ast.Call, frame: Frame
    ) -> Value | None:
        """A method of a dictionary that may hold parts of a batch."""
        key = self.machine.eval(node.args[0], frame) if node.args else PLAIN
        held = owner.get(key.value) if isinstance(key, Const) and type(key.value) is str else None
        if name == "copy":
            return copied(owner)
        if name == "setdefault" and len(node.args) == 2:
            return self._set_default(owner, key, held, node, frame)
        if name == "pop" and held is not None:
            target = node.func.value if isinstance(node.func, ast.Attribute) else None
            held = self.or_default(held, node, frame)
            if isinstance(target, ast.Name) and isinstance(key, Const):
                left = tuple(item for item in owner.items if item[0] != key.value)
                self.machine.names.bind(target.id, replace(owner, items=left), frame)
                if holds_share(held):
                    self._popped[node] = held
            return held
        if name == "pop" and isinstance(key, Const) and node in self._popped:
            return self._popped[node]
        if name == "pop" and holds_share(owner):
            others = [self.machine.eval(argument, frame) for argument in node.args[1:]]
            return self.machine.by_any_name(Items((*owner.held, *others)))
        if name == "update" and holds_share(owner):
            return self._updated(owner, node, frame)
        return self.of_holder(owner, name, node, frame) if holds_share(owner) else None

    def or_default(self, found: Value, node: ast.Call, frame: Frame) -> Value:
        """``d.get(key, default)``: one of both, unless it is certain that the key is there."""
        if len(node.args) < 2:
            return found
        return self._or(found, self.machine.eval(node.args[1], frame))

    @staticmethod
    def _or(found: Value, default: Value) -> Value:
        certain = not found.maybe_none and (not is_unnamed(found) or isinstance(found, Const))
        return found if certain and not holds_share(default) else join(found, default)

    def _set_default(
        self, owner: Dictionary, key: Value, held: Value | None, node: ast.Call, frame: Frame
    ) -> Value:
        """``d.setdefault(key, value)``: what is put in is kept, so it is made whole."""
        given = self.machine.gathering.evaluate(node.args[1], frame)
        value = self._or(held, given) if held is not None else given
        target = node.func.value if isinstance(node.func, ast.Attribute) else None
        if isinstance(target, ast.Name) and isinstance(key, Const) and type(key.value) is str:
            items = dict(owner.items) | {key.value: value}
            self.machine.names.bind(target.id, replace(owner, items=tuple(items.items())), frame)
        return value

    def _updated(self, owner: Dictionary, node: ast.Call, frame: Frame) -> Value:
        """``d.update(loss=loss)``: from then on it holds the whole batch's values there."""
        values = self.machine.calls.gathered_arguments(node, frame)
        words = {word.arg: value for word, value in zip(node.keywords, values, strict=False)}
        target = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not isinstance(target, ast.Name) or node.args or None in words:
            return self._changed(owner, "update", node, frame)
        named = {word: value for word, value in words.items() if word is not None}
        merged = dict(owner.items) | named
        self.machine.names.bind(target.id, replace(owner, items=tuple(merged.items())), frame)
        return PLAIN

    def of_holder(self, owner: Value, name: str, node: ast.Call, frame: Frame) -> Value | None:
        """Any other method of something that may hold parts of a batch: it is made whole."""
        assert isinstance(node.func, ast.Attribute)
        if frame.policy.assumes_rows or not holds_share(owner) or name == "clear":
            return self.of_plain(node, name, owner, frame)
        if name in CHANGES or name in TAKES_OUT:
            return self._changed(owner, name, node, frame)
        whole = self.machine.gathering.gather(node.func.value, owner, frame)
        return sized(gathered_of(whole, *self.machine.calls.gathered_arguments(node, frame)))

    def _changed(self, owner: Value, name: str, node: ast.Call, frame: Frame) -> Value:
        share = first_share(owner)
        if frame.policy.gathers:
            self.notes.trouble("weight", "changed-in-place", node, frame, share.loaders, name=name)
        return Lost(share.loaders, "it is changed in place", models=share.models)

    def of_plain(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        if not isinstance(owner, HashOrdered):
            self.machine.libraries.arguments_in_order(name, node, frame)
        known = self.machine.libraries.plain_method(node, name, owner, frame)
        if known is not None:
            return known
        if frame.policy.assumes_rows:
            positional, keywords = self.machine.calls.arguments(node, frame)
            values = [*positional, *keywords.values()]
            if any(isinstance(value, Share) for value in values):
                self.machine.libraries.given_rows(owner, node, values, frame)
                if isinstance(frame.file.parents.get(node), ast.Expr):
                    assert isinstance(node.func, ast.Attribute)
                    self.machine.writes.leaks(node, node.func.value, Items(tuple(values)), frame)
                if name.endswith("_") and _is_of_self(node.func):
                    self.machine.writes.remembers(node, values, frame)
                return self.machine.unknown.assumed(node, values, frame)
            return PLAIN
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = self.machine.calls.gathered_arguments(node, frame)
        self.machine.agreement.handed_over(node, values, frame)
        result = sized(gathered_of(owner, *values))
        if name == "item" and isinstance(result, Gathered):
            return replace(result, rows=False, aligned=False, models=frozenset())
        result = aligned_like(result, is_aligned(owner))
        if not is_unnamed(result):
            result = replace(result, maybe_none=True)
        return self.machine.libraries.method_of_gathered(name, result, positional, keywords)


def _is_of_self(node: ast.expr) -> bool:
    """Whether a method is called on something that `self` holds."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "self"
