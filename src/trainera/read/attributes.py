"""What an attribute is, of a share, of a network or of an object of the script's."""

import ast
from dataclasses import replace

from trainera.read import shapes, tables, tensors
from trainera.read.containers import Containers
from trainera.read.core import Frame
from trainera.read.facts import Spot
from trainera.read.inside import first_share, holds_share
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Class,
    Func,
    Kind,
    Listing,
    Lost,
    Mapping,
    Model,
    Nodes,
    Shard,
    Share,
    left_over,
)
from trainera.read.lattice import join
from trainera.read.suspects import loose_parameter

APART = Bunch | Listing | Mapping | Func
"""What stands beside figures under a similar name: `loss_names` beside `loss_G`."""


class Attributes(Containers):
    """The part of the analyser that follows attributes."""

    def _member(self, owner: Kind, cls: Class, name: str, frame: Frame) -> Kind:
        kind = self.attribute(cls, name)
        if isinstance(kind, Func) and kind.bound is None and kind.owner is not None:
            decorators = {ast.unparse(item) for item in getattr(kind.node, "decorator_list", [])}
            if "property" in decorators or "cached_property" in decorators:
                return self.call_function(replace(kind, bound=owner), [], {}, frame)
            if "staticmethod" in decorators:
                return kind
            return replace(kind, bound=owner)
        return kind or PLAIN

    def of_this_batch(self, text: str, name: str, cls: Class, kind: Kind, frame: Frame) -> Kind:
        """What an object holds of a batch; worth nothing if it may be of an earlier one."""
        if frame.lenient:
            return kind
        share = first_share(kind) if holds_share(kind) else self.of_a_batch(kind)
        if share is None:
            return kind
        sites = self.sites.get(cls.node, {})
        if len(sites) > 1 and not all(sites.values()):
            return Lost(share.loaders, f"there are several {cls.node.name}, of different batches")
        if any((owner.node, name) in self.fresh.now for owner in self.lineage(cls)):
            return kind
        return left_over(text, share.loaders, "batch", acts=not holds_share(kind))

    def by_computed_name(self, node: ast.Call, cls: Class, frame: Frame) -> Kind:
        """``getattr(self, "loss_" + name)``: any of the attributes whose names begin like that."""
        head = _head(node.args[1])
        owners = self.lineage(cls)
        names = {name for owner in owners for (of, name) in self.attributes if of is owner.node}
        found: Kind | None = None
        for name in sorted(names):
            kind = self.attribute(cls, name)
            if name.startswith(head) and kind is not None and not isinstance(kind, APART):
                kind = self.of_this_batch(ast.unparse(node), name, cls, kind, frame)
                found = join(found, kind)
        return found or PLAIN

    def _attribute_of_share(self, node: ast.Attribute, owner: Share, frame: Frame) -> Kind:
        if isinstance(owner, Lost):
            return owner
        if node.attr in tables.NOT_A_SHARE:
            return PLAIN
        if isinstance(owner, Shard):
            if node.attr == "shape":
                return shapes.shape_of(owner)
            if node.attr == "T":
                return tensors.method("t", owner, [], {}) or owner
            if node.attr in ("data", "real"):
                return owner
            if owner.nested:
                return owner
            if node.attr == "grad":
                return self.gradient_of_rows(node, owner, frame)
            if frame.lenient:
                return replace(owner, dim=None)
        elif node.attr == "data":
            return owner
        self.make_whole(node.value, owner, frame)
        return PLAIN

    def _attribute_of_model(self, node: ast.Attribute, owner: Model, frame: Frame) -> Kind:
        name = node.attr
        if name == "grad" and owner.part and not frame.lenient:
            return self.gradient_read(node, owner.origins, frame)
        if owner.parallel and name == "module":
            self.facts.bare.pop((frame.context, node.value), None)
            return replace(owner, wrapped=False, parallel=False)
        self.through_wrapper(node.value, owner, frame, name)
        inner = replace(owner, wrapped=False)
        if owner.cls is not None:
            if not frame.lenient and loose_parameter(owner.cls.node, name):
                spot = Spot(node=node, file=frame.file, what=name)
                self.facts.loose[frame.context, node] = spot
            found = self._member(inner, owner.cls, name, frame)
            if isinstance(found, Func) and not isinstance(found.node, ast.Lambda):
                return found
            if isinstance(found, Model):
                return replace(found, part=True, origins=owner.origins)
            if found is not PLAIN:
                return self.of_this_batch(ast.unparse(node), name, owner.cls, found, frame)
        if name == "training":
            return PLAIN
        if self.open_loops and not frame.lenient and not owner.part:
            for origin in owner.origins:
                self.facts.aside[origin] = Spot(node=node, file=frame.file, what=name)
        return replace(inner, cls=None, part=True)

    def gradient_read(self, node: ast.Attribute, models: Nodes, frame: Frame) -> Kind:
        """The script looks at the gradient of a parameter: it must be one that is averaged."""
        spot = Spot(node=node, file=frame.file, what=ast.unparse(node))
        self.facts.grads[frame.context, node] = (spot, models)
        return PLAIN

    def through_wrapper(self, node: ast.expr, owner: Model, frame: Frame, name: str) -> None:
        """Notes that something is asked of the network that only the bare one can answer."""
        key = (frame.context, node)
        self.facts.bare.pop(key, None)
        self.facts.plain_models.discard(key)
        if owner.part or owner.parallel or name in tables.WRAPPER_OK:
            return  # the wrapper takes DataParallel's place, keys and all
        if owner.wrapped is False:
            self.facts.plain_models.add(key)
            return
        how = "module" if owner.wrapped else "either"
        self.facts.bare[frame.context, node] = Spot(node=node, file=frame.file, what=how)


def _head(node: ast.expr) -> str:
    """What a text begins with that is put together when the script runs."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _head(node.left).partition("%")[0]
    if isinstance(node, ast.JoinedStr) and node.values:
        return _head(node.values[0])
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
