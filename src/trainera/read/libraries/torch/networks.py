"""Calls and attributes of networks."""

import ast
from dataclasses import replace
from functools import reduce

from trainera.read.facts import Spot
from trainera.read.interpret.policy import NETWORK, Policy
from trainera.read.interpret.state import Frame
from trainera.read.libraries.meters import is_meter
from trainera.read.libraries.randomness import BY_CHANCE
from trainera.read.libraries.torch import layers, names
from trainera.read.libraries.torch.autograd import add_network
from trainera.read.libraries.torch.nn import CONTAINERS, loose_parameter
from trainera.read.libraries.torch.part import TorchPart
from trainera.read.ops.outcome import Mixed
from trainera.read.ops.parts import MOVES
from trainera.read.source.syntax import text_of
from trainera.read.values import (
    PLAIN,
    Choice,
    Class,
    Function,
    Gathered,
    Items,
    LibraryObject,
    LossFunction,
    Lost,
    Network,
    Object,
    Parameters,
    Shard,
    Share,
    Value,
    compatibility,
)
from trainera.read.values.base import changed
from trainera.read.values.contents import batch_first, first_share, flat, holds_share, in_parts
from trainera.read.values.gathered import gathered_of
from trainera.read.values.join import functions_of, join

OWN = Function | Choice | Network | LossFunction | Class | Object
"""What is the script's own where a network has it."""


class Networks(TorchPart):
    """Calls and attributes of networks."""

    def is_buffer(self, node: ast.expr, frame: Frame) -> bool:
        """Whether it is a tensor that a network keeps from batch to batch."""
        if not isinstance(node, ast.Attribute):
            return False
        owner = self.machine.eval(node.value, frame)
        cls = owner.cls if isinstance(owner, Network) else None
        return cls is not None and f"register_buffer('{node.attr}'" in text_of(cls.node)

    def attribute(self, node: ast.Attribute, owner: Network, frame: Frame) -> Value:
        name = node.attr
        if name == "grad" and owner.part and frame.policy.watches_networks:
            return self.torch.autograd.gradient_read(node, owner.origins, frame)
        if owner.parallel and name == "module":
            self.notes.bare.drop(node.value, frame)
            return replace(owner, wrapped=False, parallel=False)
        self.torch.wrapping.through_wrapper(node.value, owner, frame, name)
        inner = changed(owner, wrapped=False)
        if owner.cls is not None:
            if frame.policy.watches_networks and loose_parameter(owner.cls.node, name):
                spot = Spot(node=node, file=frame.file, what=name)
                self.notes.loose.set(node, frame, spot)
            found = self.machine.objects.member(inner, owner.cls, name, frame)
            if isinstance(found, Function) and not isinstance(found.node, ast.Lambda):
                return found
            if isinstance(found, Network):
                return changed(found, part=True, origins=owner.origins)
            if found is not PLAIN:
                return self.machine.objects.of_this_batch(
                    text_of(node), name, owner.cls, found, frame
                )
        if name == "training":
            return PLAIN
        if self.path.open_loops and frame.policy.watches_networks and not owner.part:
            for origin in owner.origins:
                self.notes.aside.set(origin, frame, Spot(node=node, file=frame.file, what=name))
        return replace(inner, cls=None, part=True)

    def item(self, node: ast.Subscript, owner: Network, frame: Frame) -> Value:
        self.torch.wrapping.through_wrapper(node.value, owner, frame, "__getitem__")
        return replace(owner, part=True, cls=None, wrapped=False)

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Network, frame: Frame
    ) -> Value | None:
        name = function.attr
        if name in ("train", "eval"):
            off = name == "eval" or (
                bool(node.args)
                and isinstance(node.args[0], ast.Constant)
                and node.args[0].value is False
            )
            unknown = name == "train" and bool(node.args) and not off
            if off and frame.file.is_certain(node):
                self.program.evaluated |= owner.origins
            else:
                self.program.evaluated -= owner.origins
            if not owner.part:
                self.path.mode = "either" if unknown else "eval" if off else "train"
            return owner
        if name.startswith("register_") and "hook" in name:
            self.notes.trouble("network", "forward-hook", node, frame, frozenset())
        if name == "requires_grad_":
            self.torch.optimizers.frees(node, owner, frame)
        if name in MOVES or name in names.SAME_MODEL:
            self.torch.wrapping.through_wrapper(function.value, owner, frame, name)
            self.machine.calls.gathered_arguments(node, frame)
            return owner
        if name in ("parameters", "named_parameters", "buffers", "modules", "children"):
            self.torch.wrapping.through_wrapper(function.value, owner, frame, name)
            return Parameters(owner.origins)
        if name in ("append", "extend", "insert", "add_module") and owner.layer in CONTAINERS:
            return self.torch.layers.grown(node, function, owner, frame)
        if name == "forward":
            self.torch.wrapping.through_wrapper(function.value, owner, frame, name)
            return self.forward(owner, node, frame)
        found = self.machine.objects.attribute(owner.cls, name) if owner.cls is not None else None
        meter = isinstance(found, LibraryObject) and is_meter(found.name)
        if meter or isinstance(found, OWN):
            return None  # a method or layer of the script's own: looked up as an attribute
        self.torch.wrapping.through_wrapper(function.value, owner, frame, name)
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = [*positional, *keywords.values()]
        if any(isinstance(value, Share) for value in values):
            given = self.machine.unknown.assumed(node, values, frame)
            inside = [value for value in flat(Items(tuple(values))) if isinstance(value, Shard)]
            if frame.policy.gathers:
                given = self._guessed(given, inside, node, frame)
            self.torch.layers.unseen(found or PLAIN)
            watched = frame.policy.watches_networks
            return add_network(given, owner, node, bypass=True) if watched else given
        self.machine.calls.gathered_arguments(node, frame)
        return PLAIN

    def checkpointed(self, node: ast.Call, frame: Frame) -> Value | None:
        """A layer that is computed again on the way back, to save memory."""
        layer, *rest = self.machine.calls.arguments(node, frame)[0]
        if isinstance(layer, Function):
            return self.machine.functions.run(layer, rest, {}, frame, policy=NETWORK)
        if isinstance(layer, Network):
            values = [self._forward_of(layer, cls, rest, {}, frame) for cls in layer.classes]
            return reduce(join, values)
        return None

    def forward(self, model: Network, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self._inputs(model, node, frame)
        values = [*positional, *keywords.values()]
        if model.wrapped is None and not model.part:
            self.notes.bare.drop(node.func, frame)
        if any(holds_share(value) for value in values) and frame.policy.watches_networks:
            self.torch.autograd.begins(model, node, frame)
        self.torch.autograd.given_the_same(model, node, values, frame)
        if "Dropout" in model.layer and self.path.open_loops and not any(map(holds_share, values)):
            self.machine.agreement.agreed(node, BY_CHANCE, frame)
        if any(isinstance(value, Gathered) and value.rows and not value.drawn for value in values):
            self.torch.autograd.drops_by_chance(node, values, frame)
        result: Value | None = None
        for cls in model.classes:
            given = self._forward_of(model, cls, positional, keywords, frame)
            if given is not None:
                result = given if result is None else join(result, given)
        if not any(holds_share(value) for value in values):
            if result is not None and holds_share(result):
                return result
            return self.torch.autograd.by_every_worker(model, node, values, frame)
        if isinstance(result, Gathered) and frame.policy.gathers:
            return result  # a loss of the script's own that needs the whole batch
        shards = [value for value in values if isinstance(value, Shard)]
        inside = [value for value in flat(Items(tuple(values))) if isinstance(value, Shard)]
        parts = {shard.parts for shard in inside} or {1}
        if len(parts) > 1:
            uneven = Lost(inside[0].loaders, compatibility.UNEVEN)
            return add_network(uneven, model, node, bypass=False)
        if result is not None:
            result = in_parts(self._guessed(result, inside, node, frame), max(parts))
        if result is None or not holds_share(result):
            lost = compatibility.mixed(*values)
            if lost:
                return add_network(lost, model, node, bypass=False)
            if not shards:
                result = self.machine.unknown.assumed(node, values, frame)
            else:
                result = self._through(model, positional, keywords, node, frame)
        watched = frame.policy.watches_networks
        return add_network(result, model, node, bypass=model.part) if watched else result

    def _guessed(self, result: Value, given: list[Shard], node: ast.Call, frame: Frame) -> Value:
        """What a network gives, with the batch in front as it went in, where that is not seen."""
        if not any(isinstance(one, Shard) and one.dim is None for one in flat(result)):
            return result
        if any(one.dim != 0 for one in given) and frame.policy.gathers:
            why = "where the batch lies in what the network gives cannot be told"
            return Lost(given[0].loaders, why)
        self.notes.unsure_of(node, frame)
        if frame.policy.gathers:
            self.notes.guesses_layout()
        return batch_first(result)

    def unaccounted(self, node: ast.Call, frame: Frame) -> tuple[Class, ...]:
        """Networks of the script's own that nobody is seen to make: a registry may have them."""
        found = []
        for file in self.program.files.values():
            self.machine.definitions.enter_module(file.name)
            for part in file.nodes:
                if isinstance(part, ast.ClassDef) and part not in self.program.sites:
                    cls = Class(part, file.name)
                    network = any(
                        base.startswith("torch.nn.")
                        for base in self.machine.objects.base_names(cls)
                    )
                    if network and self.machine.calls.can_take(cls, node):
                        found.append(cls)
        used_as_base = {
            base.node for cls in found for base in self.machine.objects.lineage(cls)[1:]
        }
        kept = tuple(cls for cls in found if cls.node not in used_as_base)
        for cls in kept:
            made = self.machine.objects.attribute(cls, "__init__")
            if isinstance(made, Function):
                bound = replace(made, bound=Network(frozenset({node}), cls))
                self.machine.functions.run(bound, [], {}, frame, policy=NETWORK)
        return kept

    def _inputs(
        self, model: Network, node: ast.Call, frame: Frame
    ) -> tuple[list[Value], dict[str, Value]]:
        """The arguments of a network; of samples that were recombined, each worker's own."""
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        for part in parts:
            self.notes.cuts.drop(part, frame)
        positional, keywords = self.machine.calls.arguments(node, frame)
        if not frame.policy.gathers or len(parts) != len(positional) + len(keywords):
            return positional, keywords
        if "**" in keywords or not self.torch.layers.learns(model):
            return positional, keywords
        values = [
            self.machine.own_rows.own(part, value, frame)
            for part, value in zip(parts, (*positional, *keywords.values()), strict=True)
        ]
        count = len(positional)
        return values[:count], dict(zip(keywords, values[count:], strict=True))

    def _forward_of(
        self,
        model: Network,
        cls: Class | None,
        positional: list[Value],
        keywords: dict[str, Value],
        frame: Frame,
        policy: Policy | None = None,
    ) -> Value | None:
        """What the network gives if it is of this class; None if that cannot be looked into."""
        if cls is None:
            return None
        one = replace(model, wrapped=False, cls=cls, choices=())
        forward = self.machine.objects.member(one, cls, "forward", frame)
        if not isinstance(forward, Function | Choice):
            return None
        policy = policy or frame.policy
        if self.torch.layers.has_layers(cls) or model.origins & self.notes.facts.trained:
            policy = NETWORK  # and not a loss of the script's own
        functions = [one for one in functions_of(forward) if isinstance(one, Function)]
        made = [
            self.machine.functions.run(one, positional, keywords, frame, policy=policy)
            for one in functions
        ]
        return reduce(join, made) if made else None

    def _through(
        self,
        model: Network,
        positional: list[Value],
        keywords: dict[str, Value],
        node: ast.Call,
        frame: Frame,
    ) -> Value:
        """What a network gives that is none of the script's own, for a part of a batch."""
        values = [*positional, *keywords.values()]
        if model.alternatives:
            each = [
                self._through(one, positional, keywords, node, frame) for one in model.alternatives
            ]
            return reduce(join, each)
        if model.layer == "Sequential":
            return self._one_after_another(model, positional, node, frame)
        if model.layer:
            made = None if model.made is None else (model.made[0], dict(model.made[1]))
            outcome = layers.gives(model.layer, made, positional, keywords)
            if not isinstance(outcome, Value):
                if frame.policy.gathers and not layers.has_parameters(model.layer):
                    return gathered_of(*self.machine.calls.gathered_arguments(node, frame))
                if isinstance(outcome, Mixed) and outcome.certain:
                    self.machine.operators.combines(
                        node, first_share(Items(tuple(values))).loaders, frame
                    )
                else:
                    self.notes.unsure_of(node, frame)
                likely = outcome.likely if isinstance(outcome, Mixed) else None
                return likely or self.machine.unknown.assumed(node, values, frame)
            return outcome
        # One that cannot be looked into is taken to give rows with something in them.
        shard = next(value for value in values if isinstance(value, Shard))
        return replace(shard, nested=True, rank=None, least=2)

    def _one_after_another(
        self, model: Network, positional: list[Value], node: ast.Call, frame: Frame
    ) -> Value:
        """The layers of a container; if their order is not known, each for itself."""
        value = positional[0]
        given = value
        for part in model.inside:
            value = self._part_gives(part, value if model.ordered else given, node, frame)
        if model.ordered:
            return value
        self.notes.unsure_of(node, frame)
        return (
            replace(given, nested=False, rank=None, least=1) if isinstance(given, Shard) else given
        )

    def _part_gives(self, part: Network, value: Value, node: ast.Call, frame: Frame) -> Value:
        """One layer of a container."""
        results = []
        for cls in part.classes:
            made = self._forward_of(part, cls, [value], {}, frame, policy=NETWORK) if cls else None
            results.append(made)
        known = [one for one in results if one is not None]
        if any(map(holds_share, known)):
            return reduce(join, known)
        if not holds_share(value):
            return value
        return self._through(part, [value], {}, node, frame)
