"""Gives every expression its value."""

import ast
from collections.abc import Callable
from functools import reduce
from itertools import pairwise
from typing import Any

from trainera.read.interpret.agreement import ALONE
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame, join_env
from trainera.read.source.syntax import of_views, parts_of
from trainera.read.values import (
    PLAIN,
    Const,
    Count,
    FirstOnly,
    Gathered,
    HashOrdered,
    Items,
    Many,
    Mean,
    PerWorker,
    Share,
    Sum,
    Value,
)
from trainera.read.values.contents import holds_share
from trainera.read.values.gathered import gathered_of
from trainera.read.values.join import element, join


class Expressions(MachinePart):
    """Gives every expression its value."""

    handlers: dict[type[ast.expr], Callable[[Any, Frame], Value]]
    """Who follows which expression; given by the machine."""

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        self.program.spend(frame)
        handler = self.handlers.get(type(node))
        value = handler(node, frame) if handler is not None else PLAIN
        value = self.machine.heap.seen(node, value, frame)
        if isinstance(value, Share):
            self.notes.shares.add(node, frame)
        else:
            self.notes.shares.drop(node, frame)
        for watch in self.machine.libraries.watchers:
            value = watch(node, value, frame)
        self.program.seen[frame.context, node] = holds_share(value)
        return value

    def constant(self, node: ast.Constant, frame: Frame) -> Value:
        return Const(node.value, self.path.loop)

    def name(self, node: ast.Name, frame: Frame) -> Value:
        return self.machine.names.lookup(node.id, frame)

    def binary(self, node: ast.BinOp, frame: Frame) -> Value:
        if isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Tuple):  # of a format
            left = self.eval(node.left, frame)
            return gathered_of(left, self.machine.gathering.evaluate(node.right, frame))
        left, right = self.eval(node.left, frame), self.eval(node.right, frame)
        if of_views(node):
            return HashOrdered()
        operator = type(node.op).__name__
        return self.machine.operators.operation(operator, node.left, left, node.right, right, frame)

    def logical(self, node: ast.BoolOp, frame: Frame) -> Value:
        """``a and b``, ``a or b``"""
        known = self.machine.conditions.decided(node, frame)
        if known is not None:
            return Const(known)  # the operand that decides is known; what is behind it is not read
        operands = [self.eval(node.values[0], frame)]
        for expression in node.values[1:]:
            operand = self._perhaps(expression, frame)
            operands += [operand] if operand is not None else []
        if any(holds_share(value) for value in operands):
            if frame.policy.assumes_rows:
                return next(value for value in operands if holds_share(value))
            operands = [self.machine.gathering.evaluate(one, frame) for one in node.values]
        joined = reduce(join, operands)
        return PerWorker(ALONE) if isinstance(joined, FirstOnly) else joined

    def conditional(self, node: ast.IfExp, frame: Frame) -> Value:
        """``a if test else b``"""
        known = self.machine.conditions.truth(node.test, frame)
        if known is not None:
            return self.eval(node.body if known else node.orelse, frame)
        self.machine.conditions.condition(node.test, frame)
        parts = (node.body, node.orelse)
        given = [(part, self._perhaps(part, frame)) for part in parts]
        ways = [(part, value) for part, value in given if value is not None]
        if frame.policy.gathers and any(isinstance(value, Gathered) for _, value in ways):
            # Whole on one path, it has to be whole on the other.
            ways = [(part, self.machine.gathering.gather(part, one, frame)) for part, one in ways]
        return reduce(join, [value for _, value in ways] or [PLAIN])

    def _perhaps(self, node: ast.expr, frame: Frame) -> Value | None:
        """Evaluates what may not be evaluated at all; None if it never gives a value."""
        if frame.env is None:
            return self.eval(node, frame)
        before, fresh = dict(frame.env), self.path.fresh.now
        value = self.eval(node, frame)
        if frame.env is None:
            frame.env, self.path.fresh.now = before, fresh
            return None
        if any(isinstance(part, ast.NamedExpr) for part in parts_of(node)):
            frame.env = join_env(before, frame.env)
        self.path.fresh.meet(fresh, self.path.fresh.now)
        return value

    def sequence(self, node: ast.Tuple | ast.List, frame: Frame) -> Value:
        values = [self.eval(item, frame) for item in node.elts]
        if not any(isinstance(item, ast.Starred) for item in node.elts):
            return Items(tuple(values), self.path.loop)
        return self._spread(node, values, frame)

    def _spread(self, node: ast.Tuple | ast.List, values: list[Value], frame: Frame) -> Value:
        """``[*window, loss.item()]``: a list of some length, which begins with what there was."""
        spread = [
            self.eval(item.value, frame) for item in node.elts if isinstance(item, ast.Starred)
        ]
        if any(self.machine.outliving.is_older(one, frame) for one in spread):
            for place, (item, value) in enumerate(zip(node.elts, values, strict=True)):
                if isinstance(value, Mean | Sum | Count) and not isinstance(item, ast.Starred):
                    values[place] = self.machine.gathering.gather(item, value, frame)
        return Many(reduce(join, values), self.path.loop)

    def starred(self, node: ast.Starred, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        self.machine.libraries.in_order(node.value, value, frame)
        return element(value)

    def set(self, node: ast.Set, frame: Frame) -> Value:
        """Whole numbers have one order everywhere."""
        self.machine.gathering.evaluate(node, frame)
        numbers = all(isinstance(i, ast.Constant) and isinstance(i.value, int) for i in node.elts)
        return PLAIN if numbers else HashOrdered()

    def text(self, node: ast.JoinedStr, frame: Frame) -> Value:
        self._watch_self_naming(node, frame)
        fields = [part for part in node.values if isinstance(part, ast.FormattedValue)]
        values = [self._formatted(field, frame) for field in fields]
        alone = next((value for value in values if isinstance(value, FirstOnly)), None)
        return alone or gathered_of(*values)

    def named(self, node: ast.NamedExpr, frame: Frame) -> Value:
        value = self.eval(node.value, frame)
        self.machine.names.bind(node.target.id, value, frame)
        return value

    def function(self, node: ast.Lambda, frame: Frame) -> Value:
        return self.machine.functions.defined(node, frame)

    def slice(self, node: ast.Slice, frame: Frame) -> Value:
        for part in (node.lower, node.upper, node.step):
            if part is not None:
                self.machine.gathering.evaluate(part, frame)
        everything = node.lower is node.upper is node.step is None
        return Const("all") if everything else PLAIN

    def awaited(self, node: ast.Await, frame: Frame) -> Value:
        return self.eval(node.value, frame)

    def given(self, node: ast.Yield, frame: Frame) -> Value:
        value = self.eval(node.value, frame) if node.value is not None else PLAIN
        frame.yields = join(frame.yields, value)
        return PLAIN

    def given_each(self, node: ast.YieldFrom, frame: Frame) -> Value:
        frame.yields = join(frame.yields, element(self.eval(node.value, frame)))
        return PLAIN

    def _watch_self_naming(self, node: ast.JoinedStr, frame: Frame) -> None:
        """``{loss.item()=}`` prints its own source: it must not be changed."""
        for label, expression in pairwise(node.values):
            if isinstance(label, ast.Constant) and isinstance(expression, ast.FormattedValue):
                names_itself = (
                    str(label.value)
                    .replace(" ", "")
                    .endswith(ast.unparse(expression.value).replace(" ", "") + "=")
                )
                value = self.eval(expression.value, frame) if names_itself else PLAIN
                if holds_share(value) and frame.policy.gathers:
                    self.machine.gathering.trouble_with(expression, value, frame)

    def _formatted(self, node: ast.FormattedValue, frame: Frame) -> Value:
        if isinstance(node.format_spec, ast.JoinedStr):
            self.eval(node.format_spec, frame)
        value = self.machine.gathering.evaluate(node.value, frame)
        if node.format_spec is not None:
            self.machine.agreement.needed_by_all(node.value, (value,), frame)
        return value if isinstance(value, PerWorker | FirstOnly) else PLAIN
