"""Calls of methods, by what they are called on."""

import ast
from dataclasses import replace

from trainera.read.interpret.part import Part
from trainera.read.interpret.site import Site
from trainera.read.interpret.state import Frame
from trainera.read.values import (
    PLAIN,
    Gathered,
    HashOrdered,
    Items,
    Many,
    Parameters,
    Share,
    Value,
)
from trainera.read.values.contents import (
    has_parameters,
    holds_share,
    put_together,
)
from trainera.read.values.gathered import aligned_like, gathered_of, is_aligned, sized
from trainera.read.values.join import element, join


class Methods(Part):
    """Calls of methods, by what they are called on."""

    def call(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        known = self.machine.libraries.method(node, function, owner, frame)
        if known is not None:
            return known
        return owner.method(function.attr, Site(self.machine, node, frame))

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
            self.machine.names.bind(target.id, Many(value, owner.born), frame)
        return PLAIN

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
        return self.machine.libraries.method_of_gathered(name, result, positional, keywords)


def _is_of_self(node: ast.expr) -> bool:
    """Whether a method is called on something that `self` holds."""
    while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return isinstance(node, ast.Name) and node.id == "self"
