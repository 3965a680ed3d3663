"""Attributes, by what they are read from."""

import ast

from trainera.read.interpret.part import Part
from trainera.read.interpret.site import Site
from trainera.read.interpret.state import Frame
from trainera.read.values import (
    Value,
)


class Attributes(Part):
    """Attributes, by what they are read from."""

    def read(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = self.machine.eval(node.value, frame)
        known = self.machine.libraries.attribute(node, owner, frame)
        if known is not None:
            return known
        return owner.getattr(node.attr, Site(self.machine, node, frame))
