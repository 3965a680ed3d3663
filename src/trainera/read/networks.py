"""Calls of networks and tensors."""

import ast
from dataclasses import replace
from functools import reduce

from trainera.read import meetings, tables, tensors
from trainera.read.callees import takes
from trainera.read.core import Frame
from trainera.read.draws import BY_CHANCE
from trainera.read.gradients import Gradients, add_model
from trainera.read.inside import flat, holds_share
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Const,
    Func,
    Instance,
    Kind,
    Loss,
    Lost,
    Model,
    Params,
    Shard,
    Share,
    Thing,
    Whole,
)
from trainera.read.lattice import (
    aligned_like,
    batch_first,
    in_parts,
    is_aligned,
    join,
    keeps_rows,
    not_vague,
)
from trainera.read.library import is_meter
from trainera.read.suspects import is_figure, layer_mixes, mixes_rows
from trainera.read.tables import PAIR_LAYERS
from trainera.read.training import CONTAINERS


class Networks(Gradients):
    """The part of the analyser that follows networks and tensors."""

    def _share_method(
        self, node: ast.Call, function: ast.Attribute, owner: Share, frame: Frame
    ) -> Kind:
        self.facts.escapes.pop((frame.context, function.value), None)
        positional, keywords = self.arguments(node, frame)
        if isinstance(owner, Lost):
            return owner
        result = tensors.method(function.attr, owner, positional, keywords)
        if result is not None:
            return result
        if frame.lenient:
            if isinstance(owner, Shard):
                if function.attr in ("view", "reshape"):
                    self._hard_wired(node, owner, positional, frame)
                elif mixes_rows(function.attr, owner, positional, keywords):
                    self.combines(node, owner.loaders, frame)
                elif function.attr == "size":
                    return PLAIN
                elif is_figure(function.attr, positional, keywords):
                    return Lost(owner.loaders, "it is a figure of a slice", models=owner.models)
            return self.assumed(node, [owner, *positional, *keywords.values()], frame)
        if function.attr.endswith("_") and not function.attr.endswith("__"):
            # The whole would be a copy, and the change would be lost with it.
            self.trouble(
                "weight",
                node,
                frame,
                owner.loaders,
                what="a part of a batch is changed in place",
                why=f"what '{function.attr}' does to a slice is not known",
                do="use a function that gives a new tensor",
            )
            return Lost(owner.loaders, "it is changed in place", models=owner.models)
        made = self.make_whole(function.value, owner, frame)
        made = aligned_like(made, is_aligned(made) and keeps_rows(function.attr))
        self.whole_arguments(node, frame)
        first = isinstance(owner, Shard) and owner.dim == 0
        return tensors.reduced(function.attr, made, positional, keywords, rows_first=first)

    def _hard_wired(self, node: ast.Call, owner: Shard, sizes: list[Kind], frame: Frame) -> None:
        """A batch size written into a view does not fit a slice."""
        plain = len(sizes) > 1 and type(sizes[0]) in (Kind, Const)
        if owner.dim == 0 and plain and not isinstance(node.args[0], ast.Starred):
            self.trouble(
                "network",
                node,
                frame,
                owner.loaders,
                what="the batch size is fixed in the network",
                why="a worker's slice has fewer rows",
                do="use x.size(0), or -1, for the first size",
            )

    def _model_method(
        self, node: ast.Call, function: ast.Attribute, owner: Model, frame: Frame
    ) -> Kind | None:
        name = function.attr
        if name in ("train", "eval"):
            off = name == "eval" or (
                bool(node.args)
                and isinstance(node.args[0], ast.Constant)
                and node.args[0].value is False
            )
            unknown = name == "train" and bool(node.args) and not off
            if not owner.part:
                self.mode = "either" if unknown else "eval" if off else "train"
            return owner
        if name.startswith("register_") and "hook" in name:
            self.trouble(
                "network",
                node,
                frame,
                frozenset(),
                what="a hook looks into the network while it runs",
                why="on each worker it would see a slice of the batch",
                do="return what it needs from forward() instead",
            )
        if name == "requires_grad_":
            self.frees(node, owner, frame)
        if name in tables.MOVES or name in tables.SAME_MODEL:
            self.through_wrapper(function.value, owner, frame, name)
            self.whole_arguments(node, frame)
            return owner
        if name in ("parameters", "named_parameters", "buffers", "modules", "children"):
            self.through_wrapper(function.value, owner, frame, name)
            return Params(owner.origins)
        if name in ("append", "extend", "insert", "add_module") and owner.layer in CONTAINERS:
            return self.grown(node, function, owner, frame)
        if name == "forward":
            self.through_wrapper(function.value, owner, frame, name)
            return self._forward(owner, node, frame)
        found = self.attribute(owner.cls, name) if owner.cls is not None else None
        meter = isinstance(found, Thing) and is_meter(found.name)
        if meter or isinstance(found, Func | Model | Loss | Class | Instance):
            return None  # a method or layer of the script's own: looked up as an attribute
        self.through_wrapper(function.value, owner, frame, name)
        positional, keywords = self.arguments(node, frame)
        kinds = [*positional, *keywords.values()]
        if any(isinstance(kind, Share) for kind in kinds):
            given = self.assumed(node, kinds, frame)
            self.unseen(found or PLAIN)
            return given if frame.lenient else add_model(given, owner, node, bypass=True)
        self.whole_arguments(node, frame)
        return PLAIN

    def _external(self, name: str, node: ast.Call, frame: Frame) -> Kind:
        if name == "torch.utils.checkpoint.checkpoint" and frame.lenient and node.args:
            given = self._checkpointed(node, frame)
            if given is not None:
                return given
        return super()._external(name, node, frame)

    def _checkpointed(self, node: ast.Call, frame: Frame) -> Kind | None:
        """A layer that is computed again on the way back, to save memory."""
        layer, *rest = self.arguments(node, frame)[0]
        if isinstance(layer, Func):
            return self.call_function(layer, rest, {}, frame, lenient=True)
        if isinstance(layer, Model):
            kinds = [self._forward_of(layer, cls, rest, {}, frame) for cls in layer.classes]
            return reduce(join, kinds)
        return None

    def _forward(self, model: Model, node: ast.Call, frame: Frame) -> Kind:
        positional, keywords = self._inputs(model, node, frame)
        kinds = [*positional, *keywords.values()]
        if model.wrapped is None and not model.part:
            self.facts.bare.pop((frame.context, node.func), None)
        if any(holds_share(kind) for kind in kinds) and not frame.lenient:
            self.begins(model, node, frame)
        self.given_the_same(model, node, kinds, frame)
        if "Dropout" in model.layer and self.open_loops and not any(map(holds_share, kinds)):
            self.agreed(node, BY_CHANCE, frame)
        if any(isinstance(kind, Whole) and kind.rows and not kind.drawn for kind in kinds):
            self.drops_by_chance(node, kinds, frame)
        result: Kind | None = None
        for cls in model.classes:
            given = self._forward_of(model, cls, positional, keywords, frame)
            if given is not None and (len(model.classes) == 1 or holds_share(given)):
                result = given if result is None else join(result, given)
        if not any(holds_share(kind) for kind in kinds):
            if result is not None and holds_share(result):
                return result
            return self.by_every_worker(model, node, kinds, frame)
        if isinstance(result, Whole) and not frame.lenient:
            return result  # a loss of the script's own that needs the whole batch
        shards = [kind for kind in kinds if isinstance(kind, Shard)]
        inside = [kind for kind in flat(Bunch(tuple(kinds))) if isinstance(kind, Shard)]
        parts = {shard.parts for shard in inside} or {1}
        if len(parts) > 1:
            uneven = Lost(inside[0].loaders, meetings.UNEVEN)
            return add_model(uneven, model, node, bypass=False)
        if result is not None:
            result = in_parts(batch_first(result), max(parts))
        if result is None or not holds_share(result):
            lost = meetings.mixed(*kinds)
            if lost:
                return add_model(lost, model, node, bypass=False)
            self._look_inside(model, shards, frame)
            if layer_mixes(model, shards):
                self.combines(node, shards[0].loaders, frame)
            if not shards:
                result = self.assumed(node, kinds, frame)
            else:
                result = replace(shards[0], nested=not model.layer, rank=None, vague=False)
                if model.layer in PAIR_LAYERS:  # with hidden states or weights, laid out otherwise
                    result = Bunch((result, replace(result, dim=None, nested=True)))
        return result if frame.lenient else add_model(result, model, node, bypass=model.part)

    def unaccounted(self, node: ast.Call, frame: Frame) -> tuple[Class, ...]:
        """Networks of the script's own that nobody is seen to make: a registry may have them."""
        found = []
        for file in self.files.values():
            self.enter_module(file.name)
            for part in file.nodes:
                if isinstance(part, ast.ClassDef) and part not in self.sites:
                    cls = Class(part, file.name)
                    network = any(base.startswith("torch.nn.") for base in self.base_names(cls))
                    if network and self.can_take(cls, node):
                        found.append(cls)
        used_as_base = {base.node for cls in found for base in self.lineage(cls)[1:]}
        kept = tuple(cls for cls in found if cls.node not in used_as_base)
        for cls in kept:
            made = self.attribute(cls, "__init__")
            if isinstance(made, Func):
                bound = replace(made, bound=Model(frozenset({node}), cls))
                self.call_function(bound, [], {}, frame, lenient=True)
        return kept

    def can_take(self, callee: Func | Class, node: ast.Call) -> bool:
        """Whether it can be called with so many arguments."""
        function = self.attribute(callee, "__init__") if isinstance(callee, Class) else callee
        if not isinstance(function, Func):
            return True
        bound = isinstance(callee, Class) or function.bound is not None
        return takes(function.node.args, node, int(bound))

    def _inputs(
        self, model: Model, node: ast.Call, frame: Frame
    ) -> tuple[list[Kind], dict[str, Kind]]:
        """The arguments of a network; of samples that were recombined, each worker's own."""
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        for part in parts:
            self.facts.cuts.pop((frame.context, part), None)
        positional, keywords = self.arguments(node, frame)
        if frame.lenient or len(parts) != len(positional) + len(keywords):
            return positional, keywords
        if "**" in keywords or not self.learns(model):
            return positional, keywords
        kinds = [
            self.own_rows(part, kind, frame)
            for part, kind in zip(parts, (*positional, *keywords.values()), strict=True)
        ]
        count = len(positional)
        return kinds[:count], dict(zip(keywords, kinds[count:], strict=True))

    def _forward_of(
        self,
        model: Model,
        cls: Class | None,
        positional: list[Kind],
        keywords: dict[str, Kind],
        frame: Frame,
    ) -> Kind | None:
        """What the network gives if it is of this class; None if that cannot be looked into."""
        if cls is None:
            return None
        one = replace(model, wrapped=False, cls=cls, choices=())
        forward = self._member(one, cls, "forward", frame)
        if not isinstance(forward, Func):
            return None
        lenient = frame.lenient or self.has_layers(cls) or bool(model.origins & self.facts.trained)
        if lenient:
            positional = [not_vague(kind) for kind in positional]
            keywords = {name: not_vague(kind) for name, kind in keywords.items()}
        return self.call_function(forward, positional, keywords, frame, lenient=lenient)

    def _look_inside(self, model: Model, shards: list[Shard], frame: Frame) -> None:
        """Reads the script's own layers in a container of torch's, for what they do to a batch."""
        for part in model.inside:
            self._look_inside(part, shards, frame)
            if shards and layer_mixes(part, shards):
                self.combines(next(iter(part.origins)), shards[0].loaders, frame)
            for cls in part.classes:
                forward = self._member(part, cls, "forward", frame) if cls else None
                if isinstance(forward, Func) and shards:
                    bound = replace(forward, bound=replace(part, cls=cls, choices=()))
                    self.call_function(bound, [shards[0]], {}, frame, lenient=True)
