"""What networks are made of."""

import ast
from dataclasses import replace
from functools import lru_cache

from trainera.read.interpret.state import Frame
from trainera.read.libraries.torch import layers
from trainera.read.libraries.torch.layers import STACKED, has_parameters
from trainera.read.libraries.torch.losses import LOSSES, MADE
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.source.syntax import parts_of, text_of
from trainera.read.values import (
    PLAIN,
    Class,
    Items,
    LibraryObject,
    Many,
    Network,
    Nodes,
    Parameters,
    Value,
)
from trainera.read.values.contents import flat, networks_held, put_together

CONTAINERS = frozenset({"Sequential", "ModuleList", "ModuleDict"})


class Layers(TorchPart):
    """What networks are made of."""

    def learns(self, model: Network) -> bool:
        """Whether it is a network with layers, and not a loss, a softmax or the like."""
        if model.layer:
            return has_parameters(model.layer)
        return any(cls is None or self.has_layers(cls) for cls in model.classes)

    def may_normalise(self, model: Network, within: Nodes = frozenset()) -> bool:
        """Whether a network may have layers that use statistics of the batch."""
        parts = [*model.inside, *model.alternatives]
        if model.layer and not parts:
            return "BatchNorm" in model.layer
        classes = model.classes if not model.layer else ()
        for cls in classes:
            if cls is None and not parts:
                return True  # made by a library
            if cls is None or cls.node in within:
                continue
            owners = {owner.node for owner in self.machine.objects.lineage(cls)}
            if any("BatchNorm" in text_of(owner) for owner in owners):
                return True
            attributes = self.program.attributes.items()
            held = [value for (node, _), value in attributes if node in owners]
            called = {name for owner in owners for name in _called_of_self(owner)}
            if any(
                node in owners and name in called and type(value) in (Value, LibraryObject)
                for (node, name), value in attributes
            ):
                return True  # something of which nothing is known
            parts += [one for value in held for one in flat(value) if isinstance(one, Network)]
            within |= owners
        return any(self.may_normalise(part, within) for part in parts)

    def grown(self, node: ast.Call, function: ast.Attribute, owner: Network, frame: Frame) -> Value:
        """A container of layers is given some more."""
        positional, keywords = self.machine.calls.arguments(node, frame)
        more = networks_held(Items((*positional, *keywords.values())))
        grown = replace(owner, inside=tuple(dict.fromkeys(owner.inside + more)))
        if grown != owner and isinstance(function.value, ast.Name | ast.Attribute):
            self.machine.assignments.assign(function.value, grown, frame)
        return grown

    def has_layers(self, cls: Class) -> bool:
        """Whether a class of the script's is a network; if not, it is a loss or a transform."""
        return any(
            isinstance(value, Network | Many | Items | Parameters) and not self._is_loss(value, cls)
            for owner in self.machine.objects.lineage(cls)
            for (node, _), value in list(self.program.attributes.items())
            if node is owner.node
        ) or any("Parameter(" in text_of(owner.node) for owner in self.machine.objects.lineage(cls))

    def _is_loss(self, value: Value, within: Class) -> bool:
        """Whether a part of a class is a loss of the script's own, which has no layers either."""
        cls = value.cls if isinstance(value, Network) else None
        if isinstance(value, Network) and value.layer and not value.inside:
            return not layers.has_parameters(value.layer)
        return cls is not None and cls.node is not within.node and not self.has_layers(cls)

    def make(self, name: str, last: str, node: ast.Call, frame: Frame) -> Value | None:
        if name.startswith("torch.nn.functional.") and last in LOSSES:
            return self.torch.losses.function(last, node, frame)
        if name.startswith("torch.nn.functional.embedding"):
            self._watch_counting(node, frame)
        if name.startswith(("torch.nn.functional.", "torch.nn.init.", "torch.nn.utils.")):
            return None
        if not last[:1].isupper():
            return None
        positional, keywords = self.machine.calls.arguments(node, frame)
        if last in MADE:
            return self.torch.losses.make(MADE[last], node, frame)
        self.machine.gathering.gather_options(
            [*node.args, *(word.value for word in node.keywords)], frame
        )
        if last == "DataParallel":
            first = positional[0] if positional else keywords.get("module", PLAIN)
            self.notes.parallels.mark(node, frame, "DataParallel")
            return replace(first, parallel=True) if isinstance(first, Network) else PLAIN
        if last == "Parameter":
            return PLAIN
        if last in ("ParameterList", "ParameterDict") and frame.policy.watches_networks:
            return put_together(*positional, *keywords.values())
        if "BatchNorm" in last:
            self.notes.uses_statistics()
        self._watch_counting(node, frame)
        if last.startswith("Lazy"):
            self.notes.trouble("network", "layer-learns-shape", node, frame, frozenset())
        given = flat(Items((*positional, *keywords.values())))
        if last in CONTAINERS and any(type(value) in (Value, LibraryObject) for value in given):
            self.notes.hides_layers()
        held = networks_held(Items((*positional, *keywords.values())))
        ordered = last == "Sequential" and len(held) == len(positional) and not keywords
        if last in STACKED and held and held[0].layer == STACKED[last]:
            return replace(held[0], origins=frozenset({node}), inside=held)
        return Network(
            frozenset({node}),
            layer=last,
            made=(tuple(positional), tuple(keywords.items())),
            inside=held,
            ordered=ordered,
        )

    def _watch_counting(self, node: ast.Call, frame: Frame) -> None:
        """Embeddings that are changed, or weighed, by how often a slice asks for each."""
        given = {word.arg: word.value for word in node.keywords}
        for word, default in (("max_norm", None), ("scale_grad_by_freq", False)):
            value = given.get(word)
            if value is not None and not (
                isinstance(value, ast.Constant) and value.value is default
            ):
                self.notes.trouble("network", "layer-learns-shape", node, frame, frozenset())

    def unseen(self, value: Value) -> None:
        """Something of a library is given a batch: if it has layers, they cannot be seen."""
        if isinstance(value, LibraryObject):
            self.notes.hides_layers()


@lru_cache(maxsize=256)
def _called_of_self(cls: ast.AST) -> frozenset[str]:
    """The attributes of `self` that a class calls."""
    calls = [part.func for part in parts_of(cls) if isinstance(part, ast.Call)]
    return frozenset(
        one.attr
        for one in calls
        if isinstance(one, ast.Attribute)
        and isinstance(one.value, ast.Name)
        and one.value.id == "self"
    )


def makes_parameter(name: str, node: ast.Call) -> bool:
    """Whether a call makes a tensor that an optimizer may train."""
    return name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter") or any(
        keyword.arg == "requires_grad"
        and not (isinstance(keyword.value, ast.Constant) and keyword.value.value is False)
        for keyword in node.keywords
    )


@lru_cache(maxsize=1024)
def loose_parameter(cls: ast.ClassDef, name: str) -> bool:
    """Whether a network has a parameter of that name which none of its own methods reads."""
    made = read = False
    for node in parts_of(cls):
        if isinstance(node, ast.Assign) and "Parameter" in text_of(node.value):
            made |= any(isinstance(t, ast.Attribute) and t.attr == name for t in node.targets)
        elif isinstance(node, ast.Attribute) and node.attr == name:
            read |= isinstance(node.ctx, ast.Load)
    return made and not read
