"""Attributes, by what they are read from."""

import ast

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.libraries import effects
from trainera.read.values import (
    PLAIN,
    Class,
    Dictionary,
    FirstOnly,
    Gathered,
    Items,
    Loader,
    Lost,
    Network,
    Object,
    OwnModule,
    Parameters,
    PerWorker,
    Qualified,
    Share,
    SuperObject,
    Value,
)
from trainera.read.values.join import element


class Attributes(Part):
    """Attributes, by what they are read from."""

    def read(self, node: ast.Attribute, frame: Frame) -> Value:
        owner = self.machine.eval(node.value, frame)
        name = node.attr
        self.notes.facts.bare.pop((frame.context, node.value), None)
        match owner:
            case Qualified():
                full = f"{owner.name}.{name}"
                return FirstOnly() if full in effects.OF_ONE else Qualified(full)
            case OwnModule() if name == "__dict__":
                return self.machine.namespaces.namespace(owner.name)
            case OwnModule():
                self.machine.definitions.enter_module(f"{owner.name}.{name}")
                found = self.program.modules.get(owner.name, {}).get(name)
                if found is None and f"{owner.name}.{name}" in self.program.files:
                    found = OwnModule(f"{owner.name}.{name}")
                return found or PLAIN
            case Share():
                return self.machine.tensors.attribute(node, owner, frame)
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
            case Network():
                return self.machine.networks.attribute(node, owner, frame)
            case Dictionary():
                return owner.get(name) or PLAIN
            case Items() if name in ("values", "indices"):
                return element(owner)
            case Loader() if name == "dataset":
                return PLAIN
            case Parameters() if name == "grad" and not frame.lenient:
                return self.machine.autograd.gradient_read(node, owner.models, frame)
            case PerWorker() | Gathered() | FirstOnly():
                return owner
        return PLAIN
