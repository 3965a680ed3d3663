"""Tests: those whose outcome is known, and those on which all workers must agree."""

import ast

from trainera.read.interpret.agreement import ALONE
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import (
    Const,
    FirstOnly,
    Gathered,
    Items,
    LibraryObject,
    Many,
    Network,
    PerWorker,
    Share,
    Value,
)
from trainera.read.values.contents import first_share, holds_share

LISTS = frozenset({"list", "tuple", "dict", "set"})


class Conditions(MachinePart):
    """Tests: those whose outcome is known, and those on which all workers must agree."""

    def truth(self, node: ast.expr, frame: Frame) -> bool | None:
        """The value of a test that is known from constants in the script."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.truth(node.operand, frame)
            return None if known is None else not known
        answer = self.machine.libraries.truth(node, frame)
        if answer is not None:
            return answer
        if isinstance(node, ast.BoolOp):
            return self._logical(node, frame)
        if asks_for_list(node):
            assert isinstance(node, ast.Call)
            value = self.machine.eval(node.args[0], frame)
            return False if isinstance(value, Network) else None
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        left, right = (self.machine.eval(part, frame) for part in (node.left, node.comparators[0]))
        operator = node.ops[0]
        if isinstance(operator, ast.Is | ast.IsNot) and isinstance(right, Const):
            if right.value is not None or type(left) in (Value, LibraryObject):
                return None
            found = isinstance(left, Const) and left.value is None
            if isinstance(left, Share | Gathered | Items | Many) and _named(node.left) in (
                frame.file.emptied
            ):
                return None  # a figure that is not there yet in the first round of a loop
            return found == isinstance(operator, ast.Is)
        if isinstance(left, Const) and isinstance(right, Const):
            if isinstance(left.value, str) and isinstance(right.value, str):
                if isinstance(operator, ast.Eq | ast.NotEq):
                    return (left.value == right.value) == isinstance(operator, ast.Eq)
        return None

    def _logical(self, node: ast.BoolOp, frame: Frame) -> bool | None:
        """``a and b``, ``a or b``: the first operands may decide."""
        decides = isinstance(node.op, ast.Or)
        for operand in node.values:
            asked, turned = operand, False
            if isinstance(operand, ast.UnaryOp) and isinstance(operand.op, ast.Not):
                asked, turned = operand.operand, True
            answer = self.machine.libraries.truth(asked, frame)
            if answer is not None and (answer != turned) == decides:
                return decides
            if answer is None:
                return None
        return None

    def condition(self, node: ast.expr, frame: Frame) -> None:
        """A test decides what every worker does next: all must come to the same answer."""
        if frame.policy.inside_network:
            self.decides(node, self.machine.eval(node, frame), frame)
            return
        self.machine.agreement.agreed(node, self.evaluated(node, frame), frame)

    def evaluated(self, node: ast.expr, frame: Frame) -> Value:
        """What a test gives outside of networks."""
        value = self.machine.gathering.evaluate(node, frame)
        return PerWorker(ALONE) if isinstance(value, FirstOnly) else value

    def decides(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """Inside a network: does the path depend on the batch it is given, or on chance?"""
        by_chance = isinstance(value, PerWorker) and "random" in value.what
        if holds_share(value) or by_chance:
            loaders = first_share(value).loaders if holds_share(value) else frozenset()
            self.notes.trouble("network", "decides", node, frame, loaders)


def asks_for_list(node: ast.expr) -> bool:
    """``isinstance(x, list)``, which a network is not, wrapped or bare."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != "isinstance":
        return False
    if len(node.args) != 2:
        return False
    wanted = node.args[1]
    classes = wanted.elts if isinstance(wanted, ast.Tuple) else [wanted]
    return all(isinstance(cls, ast.Name) and cls.id in LISTS for cls in classes)


def _named(node: ast.expr) -> str:
    """The last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
