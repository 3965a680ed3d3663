"""Attributes, by what they are read from."""

import ast

from trainera.read.interpret.heap import ANY
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.site import Site
from trainera.read.interpret.state import Frame
from trainera.read.values import Const, Value


class Attributes(MachinePart):
    """Attributes, by what they are read from."""

    def read(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = self.machine.eval(node.value, frame)
        if isinstance(owner, Const) and node.attr not in self.machine.libraries.tensor_facts:
            self.machine.heap.put_unnamed(owner, ANY, [], frame)  # a view, perhaps
        return self.of(owner, Site(self.machine, node, frame))

    def of(self, owner: Value, site: Site[ast.Attribute]) -> Value:
        """The attribute of a value."""
        known = self.machine.libraries.attribute(site.node, owner, site.frame)
        return known if known is not None else owner.getattr(site.node.attr, site)
