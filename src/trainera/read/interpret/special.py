"""What Python's syntax asks of an object of the script's: its special methods.

`a + b`, `a[k]`, `with a`, `for x in a`, `len(a)` and the like are calls in disguise. Whoever meets
an object there asks here. An object without such a method is no share of a batch, but may hold
one, which then is handed over to code that cannot be seen.
"""

import ast
from collections.abc import Iterator, Sequence
from functools import reduce

from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import parts_of
from trainera.read.values import (
    PLAIN,
    BatchIterable,
    Choice,
    Const,
    Function,
    Items,
    LibraryObject,
    Loader,
    Many,
    Object,
    Value,
)
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.join import element, functions_of, join, members_of

BINARY = {
    "Add": "add",
    "Sub": "sub",
    "Mult": "mul",
    "Div": "truediv",
    "FloorDiv": "floordiv",
    "Mod": "mod",
    "Pow": "pow",
    "MatMult": "matmul",
    "BitAnd": "and",
    "BitOr": "or",
    "BitXor": "xor",
    "LShift": "lshift",
    "RShift": "rshift",
}
UNARY = {ast.USub: "__neg__", ast.UAdd: "__pos__", ast.Invert: "__invert__"}
COMPARED = {
    ast.Lt: ("__lt__", "__gt__"),
    ast.LtE: ("__le__", "__ge__"),
    ast.Gt: ("__gt__", "__lt__"),
    ast.GtE: ("__ge__", "__le__"),
    ast.Eq: ("__eq__", "__eq__"),
    ast.NotEq: ("__ne__", "__ne__"),
}
"""What the left side is asked and, if it has no answer, the right one."""
NAMES = "abs bool complex float int len next repr reversed round str"
BUILTINS = {name: f"__{name}__" for name in NAMES.split()}
ITERABLE = Loader | BatchIterable | Items | Many


class SpecialMethods(MachinePart):
    """What Python's syntax asks of an object of the script's: its special methods."""

    def ask(
        self, owner: Value, name: str, arguments: Sequence[Value], frame: Frame
    ) -> Value | None:
        """What a special method gives; None if there is none."""
        if not isinstance(owner, Object):
            return None
        method = self.machine.objects.member(owner, owner.cls, name, frame)
        several = method.functions if isinstance(method, Choice) else members_of(method)
        found = [one for one in several if isinstance(one, Function)]
        made = [self.machine.functions.run(one, list(arguments), {}, frame) for one in found]
        return reduce(join, made) if made else None

    def binary(self, operator: str, left: Value, right: Value, frame: Frame) -> Value | None:
        """An operator, with an object on one of its sides."""
        name = BINARY[operator]
        made = self.ask(left, f"__{name}__", [right], frame)
        return made if made is not None else self.ask(right, f"__r{name}__", [left], frame)

    def in_place(self, operator: str, left: Value, right: Value, frame: Frame) -> Value | None:
        """The same for `left += right`."""
        made = self.ask(left, f"__i{BINARY[operator]}__", [right], frame)
        return made if made is not None else self.binary(operator, left, right, frame)

    def compared(
        self, operator: ast.cmpop, left: Value, right: Value, frame: Frame
    ) -> Value | None:
        if isinstance(operator, ast.In | ast.NotIn):
            return self.ask(right, "__contains__", [left], frame)
        one, other = COMPARED.get(type(operator), ("", ""))
        made = self.ask(left, one, [right], frame)
        made = made if made is not None else self.ask(right, other, [left], frame)
        if made is None and isinstance(operator, ast.NotEq):
            return self.ask(left, "__eq__", [right], frame)
        return made

    def builtin(self, name: str, arguments: Sequence[Value], frame: Frame) -> Value | None:
        """What a function such as `len` makes of an object."""
        if name not in BUILTINS or not arguments:
            return None
        made = self.ask(arguments[0], BUILTINS[name], arguments[1:], frame)
        if made is None and name == "bool":
            made = self.ask(arguments[0], "__len__", (), frame)
        return made

    def iterated(self, node: ast.AST, value: Value, frame: Frame) -> Value:
        """What an object gives when it is gone through; anything else is gone through as it is."""
        given = self.ask(value, "__iter__", (), frame)
        if isinstance(given, ITERABLE):
            return given
        one = given if given is not None else value
        if isinstance(one, Object) and given is not None:
            return self._one_by_one(node, one, frame)
        if given is None and (item := self.ask(value, "__getitem__", [PLAIN], frame)) is not None:
            return Many(item)
        return value

    def _one_by_one(self, node: ast.AST, iterator: Object, frame: Frame) -> Value:
        """An object that is asked for its next item again and again."""
        with self.notes.on_trial():
            item = self.ask(iterator, "__next__", (), frame)
        if item is None:
            return iterator
        share = first_share(item) if holds_share(item) else self.machine.objects.carried(item)
        if share is not None:
            self.notes.trouble("split", "own-iterator", node, frame, share.loaders)
        return Many(item)

    def entered(self, value: Value, frame: Frame) -> Value:
        """What `with` gives a name; of a generator that is a context manager, what it yields."""
        made = self.ask(value, "__enter__", (), frame)
        if made is not None:
            return made
        return element(value) if isinstance(value, BatchIterable | Many) else value

    def left(self, node: ast.expr, value: Value, frame: Frame) -> bool:
        """The end of a `with` statement; whether an error in it may be dropped there."""
        if isinstance(value, LibraryObject) and value.name == "contextlib.suppress":
            return True
        made_by = self.machine.eval(node.func, frame) if isinstance(node, ast.Call) else PLAIN
        if any(map(_catches_around_yield, _functions(made_by))):
            return True
        alive = frame.env
        frame.env = frame.env if frame.env is not None else {}  # it is asked in any case
        answer = self.ask(value, "__exit__", [PLAIN] * 3, frame)
        frame.env = alive
        return answer is not None and not (isinstance(answer, Const) and not answer.value)


def _functions(value: Value) -> Iterator[ast.AST]:
    """The code of functions that a value may be."""
    for one in members_of(value):
        if isinstance(one, Function | Choice):
            yield from (function.node for function in functions_of(one))


def _catches_around_yield(function: ast.AST) -> bool:
    """Whether a generator that is a context manager goes on after an error in its `with`."""
    return any(
        isinstance(part, ast.Try)
        and part.handlers
        and any(isinstance(inner, ast.Yield) for one in part.body for inner in ast.walk(one))
        for part in parts_of(function)
    )
