"""Tests whose outcome is known from the script alone."""

import ast

from trainera.read.core import Frame
from trainera.read.kinds import Bunch, Const, Kind, Listing, Model, Share, Thing, Whole
from trainera.read.wholes import Wholes

LISTS = frozenset({"list", "tuple", "dict", "set"})


class Conditions(Wholes):
    """The part of the analyser that tells which way a condition goes."""

    def truth(self, node: ast.expr, frame: Frame) -> bool | None:
        """The value of a test that is known from constants in the script."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            known = self.truth(node.operand, frame)
            return None if known is None else not known
        if asks_for_list(node):
            assert isinstance(node, ast.Call)
            kind = self.eval(node.args[0], frame)
            return False if isinstance(kind, Model) else None
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        left, right = (self.eval(part, frame) for part in (node.left, node.comparators[0]))
        operator = node.ops[0]
        if isinstance(operator, ast.Is | ast.IsNot) and isinstance(right, Const):
            if right.value is not None or type(left) in (Kind, Thing):
                return None
            found = isinstance(left, Const) and left.value is None
            if isinstance(left, Share | Whole | Bunch | Listing) and _named(node.left) in (
                frame.file.emptied
            ):
                return None  # a figure that is not there yet in the first round of a loop
            return found == isinstance(operator, ast.Is)
        if isinstance(left, Const) and isinstance(right, Const):
            if isinstance(left.value, str) and isinstance(right.value, str):
                if isinstance(operator, ast.Eq | ast.NotEq):
                    return (left.value == right.value) == isinstance(operator, ast.Eq)
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
