"""Attributes, by what they are read from."""

import ast

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.values import (
    PLAIN,
    Class,
    Dictionary,
    FirstOnly,
    Gathered,
    Items,
    Lost,
    Object,
    OwnModule,
    PerWorker,
    Qualified,
    SuperObject,
    Value,
)
from trainera.read.values.join import element


class Attributes(Part):
    """Attributes, by what they are read from."""

    def read(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = self.machine.eval(node.value, frame)
        known = self.machine.libraries.attribute(node, owner, frame)
        if known is not None:
            return known
        name = node.attr
        match owner:
            case Qualified():
                full = f"{owner.name}.{name}"
                return self.machine.libraries.named(full) or Qualified(full)
            case OwnModule() if name == "__dict__":
                return self.machine.namespaces.namespace(owner.name)
            case OwnModule():
                self.machine.definitions.enter_module(f"{owner.name}.{name}")
                found = self.program.modules.get(owner.name, {}).get(name)
                if found is None and f"{owner.name}.{name}" in self.program.files:
                    found = OwnModule(f"{owner.name}.{name}")
                return found or PLAIN
            case Object() if name == "__dict__":
                share = self.machine.objects.carried(owner)
                return PLAIN if share is None else Lost(share.loaders, "it is one of many values")
            case Object():
                value = self.machine.objects.member(owner, owner.cls, name, frame)
                return self.machine.objects.of_this_batch(
                    ast.unparse(node), name, owner.cls, value, frame
                )
            case SuperObject():
                return self.machine.objects.of_base(owner, name, frame)
            case Class():
                return self.machine.objects.attribute(owner, name) or PLAIN
            case Dictionary():
                return owner.get(name) or PLAIN
            case Items() if name in ("values", "indices"):
                return element(owner)
            case PerWorker() | Gathered() | FirstOnly():
                return owner
        return PLAIN
