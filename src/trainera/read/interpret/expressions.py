"""Gives every expression its value."""

import ast
from itertools import pairwise

from trainera.read.interpret.agreement import ALONE
from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame, join_env
from trainera.read.source.syntax import of_views
from trainera.read.values import (
    PLAIN,
    Const,
    FirstOnly,
    Function,
    HashOrdered,
    Items,
    PerWorker,
    Share,
    Value,
)
from trainera.read.values.contents import holds_share
from trainera.read.values.gathered import gathered_of
from trainera.read.values.join import element, join


class Expressions(Part):
    """Gives every expression its value."""

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        value = self._value_of(node, frame)
        if isinstance(value, Share):
            self.notes.shares.add(node, frame)
        else:
            self.notes.shares.drop(node, frame)
        return self.machine.libraries.evaluated(node, value, frame)

    def _perhaps(self, node: ast.expr, frame: Frame) -> Value:
        """Evaluates what may not be evaluated at all."""
        before, fresh = dict(frame.env or {}), self.path.fresh.now
        value = self.eval(node, frame)
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            frame.env = join_env(before, frame.env)
        self.path.fresh.meet(fresh, self.path.fresh.now)
        return value

    def _value_of(self, node: ast.expr, frame: Frame) -> Value:
        self.program.spend(frame)
        match node:
            case ast.Constant():
                loop = self.path.loop
                return Const(node.value, loop)
            case ast.Name():
                return self.machine.names.lookup(node.id, frame)
            case ast.Call():
                return self.machine.calls.call(node, frame)
            case ast.Attribute():
                return self.machine.attributes.read(node, frame)
            case ast.Subscript():
                return self.machine.subscripts.read(node, frame)
            case ast.BinOp() if isinstance(node.op, ast.Mod) and isinstance(node.right, ast.Tuple):
                return gathered_of(
                    self.eval(node.left, frame), self.machine.gathering.evaluate(node.right, frame)
                )
            case ast.BinOp() if of_views(node):
                self.eval(node.left, frame)
                self.eval(node.right, frame)
                return HashOrdered()
            case ast.BinOp():
                left, right = self.eval(node.left, frame), self.eval(node.right, frame)
                operator = type(node.op).__name__
                return self.machine.operators.operation(
                    operator, node.left, left, node.right, right, frame
                )
            case ast.UnaryOp():
                return self.machine.operators.unary(node, frame)
            case ast.Compare():
                return self.machine.operators.compare(node, frame)
            case ast.BoolOp():
                operands = [self.eval(node.values[0], frame)]
                for expression in node.values[1:]:
                    operands.append(self._perhaps(expression, frame))
                if any(holds_share(value) for value in operands):
                    if frame.policy.assumes_rows:
                        return next(value for value in operands if holds_share(value))
                    operands = [
                        self.machine.gathering.evaluate(expression, frame)
                        for expression in node.values
                    ]
                joined: Value | None = None
                for value in operands:
                    joined = join(joined, value)
                return PerWorker(ALONE) if isinstance(joined, FirstOnly) else joined or PLAIN
            case ast.IfExp():
                known = self.machine.conditions.truth(node.test, frame)
                if known is not None:
                    return self.eval(node.body if known else node.orelse, frame)
                self.machine.conditions.condition(node.test, frame)
                return join(self._perhaps(node.body, frame), self._perhaps(node.orelse, frame))
            case ast.Tuple() | ast.List():
                loop = self.path.loop
                return Items(tuple(self.eval(item, frame) for item in node.elts), loop)
            case ast.Starred():
                value = self.eval(node.value, frame)
                self.machine.libraries.in_order(node.value, value, frame)
                return element(value)
            case ast.Set():
                self.machine.gathering.evaluate(node, frame)
                return set_of(node)
            case ast.Dict():
                return self.machine.comprehensions.dictionary(node, frame)
            case ast.JoinedStr():
                self._watch_self_naming(node, frame)
                values = [v for v in node.values if isinstance(v, ast.FormattedValue)]
                parts = [self._formatted(expression, frame) for expression in values]
                alone = next((value for value in parts if isinstance(value, FirstOnly)), None)
                return alone or gathered_of(*parts)
            case ast.NamedExpr():
                value = self.eval(node.value, frame)
                self.machine.names.bind(node.target.id, value, frame)
                return value
            case ast.Lambda():
                return Function(node, frame.file.name, scope=self.machine.names.close_over(frame))
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                return self.machine.comprehensions.comprehension(node, frame)
            case ast.Slice():
                for part in (node.lower, node.upper, node.step):
                    if part is not None:
                        self.machine.gathering.evaluate(part, frame)
                everything = node.lower is node.upper is node.step is None
                return Const("all") if everything else PLAIN
            case ast.Await():
                return self.eval(node.value, frame)
            case ast.Yield():
                value = self.eval(node.value, frame) if node.value is not None else PLAIN
                frame.yields = join(frame.yields, value)
                return PLAIN
            case ast.YieldFrom():
                frame.yields = join(frame.yields, element(self.eval(node.value, frame)))
                return PLAIN
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


def set_of(node: ast.Set) -> Value:
    """A set that is written out; whole numbers have one order everywhere."""
    numbers = all(isinstance(i, ast.Constant) and isinstance(i.value, int) for i in node.elts)
    return PLAIN if numbers else HashOrdered()
