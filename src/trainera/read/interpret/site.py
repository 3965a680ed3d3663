"""Where a value is asked for something."""

import ast
from typing import TYPE_CHECKING, Generic, TypeVar

from trainera.read.interpret.state import Frame
from trainera.read.values import Value

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

    def gathered(self, node: ast.expr) -> Value:
        return self.machine.gathering.evaluate(node, self.frame)
