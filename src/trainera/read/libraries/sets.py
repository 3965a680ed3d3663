"""Sets: Python orders their items by hashes, and strings hash otherwise in every process."""

import ast

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.source.file import SourceFile
from trainera.read.values import PLAIN, Const, HashOrdered, Value

SET_ORDER = "the order of a set"
# Functions to which the order of what they are given makes no difference.
ORDERLESS = {"all", "any", "bool", "frozenset", "len", "max", "min", "set", "sorted", "sum"}
# Functions whose result has the order of what they are given.
ORDERING = {"deque", "enumerate", "extend", "filter", "fromkeys", "iter", "join", "list", "map"}
ORDERING |= {"Counter", "OrderedDict", "Series", "accumulate", "chain", "islice", "product"}
ORDERING |= {"permutations", "combinations", "tuple", "zip", "cycle", "from_iterable"}
SET_MAKERS = {"copy", "difference", "intersection", "symmetric_difference", "union"}


class Sets(Library):
    """Sets: Python orders their items by hashes, and strings hash otherwise in every process."""

    def in_order(self, node: ast.expr, value: Value, frame: Frame) -> None:
        """Something is done with the items one after the other: in the first worker's order."""
        if not isinstance(value, HashOrdered):
            return
        self.notes.agree.drop(node, frame)
        if not frame.policy.arranges_side_effects or _goes_nowhere(node, frame.file):
            return
        self.notes.agree.mark(node, frame, SET_ORDER)
        self.path.needs_all_workers()

    def arguments_in_order(self, name: str, node: ast.Call, frame: Frame) -> None:
        """The same for the arguments of a call."""
        if name.rsplit(".", 1)[-1] in ORDERING:
            for argument in node.args:
                if not isinstance(argument, ast.Starred):
                    self.in_order(argument, self.machine.eval(argument, frame), frame)

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        return self._method(node, name, frame) if isinstance(owner, HashOrdered) else None

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        return self._hashes(node, frame) if name == "builtins.hash" else None

    def _method(self, node: ast.Call, name: str, frame: Frame) -> Value | None:
        """A method of a set; None if it is one that any object may have."""
        if name in SET_MAKERS:
            for argument in node.args:
                self.machine.gathering.evaluate(argument, frame)
            return HashOrdered()
        if name == "pop" and frame.policy.arranges_side_effects:
            self.notes.trouble("agree", "item-of-set", node, frame, frozenset())
            return PLAIN
        return None

    def _hashes(self, node: ast.Call, frame: Frame) -> Value:
        """``hash(…)`` of a string is another number in every process."""
        positional, _ = self.machine.calls.arguments(node, frame)
        self.machine.agreement.needed_by_all(node, positional, frame)
        value = self.machine.gathering.evaluate(node.args[0], frame) if node.args else PLAIN
        if not (isinstance(value, Const) and isinstance(value.value, int)):
            self.notes.trouble("agree", "hash", node, frame, frozenset())
        return PLAIN


def _goes_nowhere(node: ast.expr, file: SourceFile) -> bool:
    """Whether the order is lost again at once, as in ``sorted(list(letters))``."""
    above: ast.AST | None = file.parents.get(node)
    if isinstance(above, ast.Call) and _called(above) in ("list", "tuple"):
        above = file.parents.get(above)
    elif isinstance(above, ast.comprehension):
        above = file.parents.get(above)
        if isinstance(above, ast.SetComp):
            return True
        above = file.parents.get(above) if isinstance(above, ast.AST) else None
    return isinstance(above, ast.Call) and _called(above) in ORDERLESS


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""
