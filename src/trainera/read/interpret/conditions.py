"""Tests: those whose outcome is known, and those on which all workers must agree."""

import ast
import operator
from collections.abc import Callable
from typing import Any

from trainera.read.interpret.agreement import ALONE
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.values import (
    UNKNOWN_YET,
    Const,
    FirstOnly,
    Gathered,
    Items,
    Many,
    Network,
    PerWorker,
    Share,
    Value,
)
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.join import is_unnamed

FILLED = Share | Gathered | Items | Many
"""What loops put in place of None that was there before."""
LISTS = frozenset({"list", "tuple", "dict", "set"})


COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


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
            return self._logical(node, lambda operand: self.truth(operand, frame))
        if asks_for_list(node):
            assert isinstance(node, ast.Call)
            value = self.machine.eval(node.args[0], frame)
            return False if isinstance(value, Network) else None
        alone = self._constant(node, frame)
        if alone is not None:
            return bool(alone.value)
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        one, other = (self._constant(part, frame) for part in (node.left, node.comparators[0]))
        compare = COMPARED.get(type(node.ops[0]))
        if one is not None and other is not None and compare is not None:
            return _compared(compare, one.value, other.value)
        if self._is_rebound(node, frame):
            return None
        left, right = (self.machine.eval(part, frame) for part in (node.left, node.comparators[0]))
        asked = node.ops[0]
        if isinstance(asked, ast.Is | ast.IsNot) and isinstance(right, Const):
            if right.value is not None or self._may_be_none(left, node.left, frame):
                return None
            found = isinstance(left, Const) and left.value is None
            return found == isinstance(asked, ast.Is)
        if isinstance(left, Const) and isinstance(right, Const):
            if isinstance(left.value, str) and isinstance(right.value, str):
                if isinstance(asked, ast.Eq | ast.NotEq):
                    return (left.value == right.value) == isinstance(asked, ast.Eq)
        return None

    @staticmethod
    def _is_rebound(node: ast.Compare, frame: Frame) -> bool:
        """Whether a name is asked for that another function binds, who knows when."""
        names = (part.id for part in (node.left, *node.comparators) if isinstance(part, ast.Name))
        return not frame.file.rebound.isdisjoint(names)

    @staticmethod
    def _may_be_none(value: Value, node: ast.expr, frame: Frame) -> bool:
        """Whether it is None on some path, or not there yet in a loop's first round."""
        if isinstance(value, Const):
            return value is UNKNOWN_YET
        emptied = _named(node) in frame.file.emptied and isinstance(value, FILLED)
        return value.maybe_none or is_unnamed(value) or emptied

    def _constant(self, node: ast.expr, frame: Frame) -> Const | None:
        """A number, text or truth value that stands there, or that a name of this function has.

        Names that other functions bind may be something else by the time that they are asked.
        """
        if isinstance(node, ast.Name) and frame.env is not None:
            free = node.id in frame.env and node.id not in frame.file.rebound
            value = frame.env[node.id] if free else None
        elif isinstance(node, ast.Constant | ast.UnaryOp):
            value = self.machine.eval(node, frame)
        else:
            return None
        known = isinstance(value, Const) and isinstance(value.value, bool | int | float | str)
        return value if known and isinstance(value, Const) and not value.made_at else None

    def decided(self, node: ast.BoolOp, frame: Frame) -> bool | None:
        """``a and b``, ``a or b``: which truth value it gives, if libraries know that it is one."""
        return self._logical(node, lambda operand: self._told(operand, frame))

    def _told(self, node: ast.expr, frame: Frame) -> bool | None:
        """What libraries know of a test."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            answer = self.machine.libraries.truth(node.operand, frame)
            return None if answer is None else not answer
        return self.machine.libraries.truth(node, frame)

    @staticmethod
    def _logical(node: ast.BoolOp, truth: Callable[[ast.expr], bool | None]) -> bool | None:
        """The first operands may decide; what is behind one that is not known has to be read."""
        decides = isinstance(node.op, ast.Or)
        for operand in node.values:
            answer = truth(operand)
            if answer is None or answer == decides:
                return answer
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


def _compared(compare: Callable[[Any, Any], bool], one: object, other: object) -> bool | None:
    """What comparing two constants gives; None if that is an error."""
    try:
        return compare(one, other)
    except TypeError:
        return None


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
