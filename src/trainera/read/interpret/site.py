"""Where a value is asked for something."""

import ast
from collections.abc import Callable, Sequence
from copy import copy
from functools import reduce
from typing import TYPE_CHECKING, Generic, TypeVar

from trainera.read.interpret.state import Frame
from trainera.read.values import Value
from trainera.read.values.join import join

if TYPE_CHECKING:
    from trainera.read.interpret.machine import Machine

Node = TypeVar("Node", bound=ast.expr, covariant=True)


class Site(Generic[Node]):
    """An expression that asks a value for an attribute, an item or what calling it gives."""

    __slots__ = ("frame", "machine", "node")

    def __init__(self, machine: "Machine", node: Node, frame: Frame) -> None:
        self.machine = machine
        self.node = node
        self.frame = frame

    def eval(self, node: ast.expr) -> Value:
        return self.machine.eval(node, self.frame)

    def is_handed_over(self) -> bool:
        """Whether this is something's method that is not called here, but given away."""
        above = self.frame.file.parents.get(self.node)
        return not (isinstance(above, ast.Call) and above.func is self.node)

    def each(self, members: Sequence[Value], ask: Callable[[Value, "Site[Node]"], Value]) -> Value:
        """Asks each of several values, as if every one were the only one, and joins the answers.

        What is noted of the code at this place then stands side by side, in a context of its own
        for each: a rule sees whether they agree on what is to change.
        """
        made: list[Value] = []
        contexts = self.machine.program.contexts
        for place, member in enumerate(members):
            path = copy(self.frame)
            key = ("member", self.frame.context, self.node, place)
            path.context = contexts.setdefault(key, len(contexts) + 1)
            self.machine.notes.called(path.context)
            made.append(ask(member, Site(self.machine, self.node, path)))
            self.frame.env = path.env
        return reduce(join, made)

    def gathered(self, node: ast.expr) -> Value:
        return self.machine.gathering.evaluate(node, self.frame)
