"""Tensors that are shares of a batch: functions, methods, attributes and items."""

import ast
from dataclasses import replace

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.ops import shapes, stacking, tables, tensors
from trainera.read.ops.mixing import is_figure, mixes_rows, picks_rows
from trainera.read.ops.tables import keeps_rows
from trainera.read.values import (
    PLAIN,
    Const,
    Count,
    Gathered,
    Lost,
    Shard,
    ShardShape,
    Share,
    Value,
)
from trainera.read.values.contents import first_share, holds_share
from trainera.read.values.gathered import aligned_like, is_aligned


class Tensors(Library):
    """Tensors that are shares of a batch: functions, methods, attributes and items."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        if not name.startswith(("torch.", "numpy.")):
            return None
        return self._function(name, name.rsplit(".", 1)[-1], node, frame)

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        if name.endswith("_") and not name.startswith("_") and frame.policy.follows_lifetimes:
            self._changed_to_rows(node, name, frame)
        return None

    def attribute(self, node: ast.Attribute, owner: Value, frame: Frame) -> Value | None:
        return self._attribute(node, owner, frame) if isinstance(owner, Share) else None

    def item(self, node: ast.Subscript, owner: Value, frame: Frame) -> Value | None:
        return self._item(node, owner, frame) if isinstance(owner, Share) else None

    def method(
        self, node: ast.Call, function: ast.Attribute, owner: Value, frame: Frame
    ) -> Value | None:
        return self._method(node, function, owner, frame) if isinstance(owner, Share) else None

    def _attribute(self, node: ast.Attribute, owner: Share, frame: Frame) -> Value:
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
                return self._gradient_of_rows(node, owner, frame)
            if frame.policy.assumes_rows:
                return replace(owner, dim=None)
        elif node.attr == "data":
            return owner
        self.machine.gathering.gather(node.value, owner, frame)
        return PLAIN

    def _gradient_of_rows(self, node: ast.AST, owner: Shard, frame: Frame) -> Value:
        """What `backward()` left at a tensor of the batch is weighed for the average of workers."""
        self.notes.trouble("weight", "gradient-of-batch", node, frame, owner.loaders)
        return Lost(owner.loaders, "it is a gradient that is weighed for the average")

    def _item(self, node: ast.Subscript, owner: Share, frame: Frame) -> Value:
        if isinstance(owner, Lost):
            return owner
        if isinstance(owner, ShardShape):
            value = shapes.dimension(owner, self.machine.eval(node.slice, frame))
            if value is not None:
                return value
            if isinstance(node.slice, ast.Slice) and isinstance(node.slice.lower, ast.Constant):
                start = node.slice.lower.value
                if owner.dim is not None and isinstance(start, int) and start > owner.dim:
                    return PLAIN
            return (
                self.machine.gathering.gather(node.value, owner, frame)
                if frame.policy.gathers
                else PLAIN
            )
        if not isinstance(owner, Shard):
            return owner
        self.notes.cuts.drop(node, frame)
        self.notes.escapes.drop(node.value, frame)
        keys = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        values = [(self.machine.eval(key, frame), isinstance(key, ast.Slice)) for key in keys]
        first, first_is_slice = values[0]
        if frame.policy.assumes_rows and isinstance(first, Shard):
            first = replace(first, mask=True)  # where it is not known, rows stay apart
        result = shapes.index(owner, first, first_is_slice, values[1:])
        if result is not None:
            for key, (value, _) in zip(keys[1:], values[1:], strict=True):
                if holds_share(value) and not isinstance(value, Shard):
                    self.machine.gathering.gather(key, value, frame)
            return result
        if frame.policy.assumes_rows:
            if picks_rows(owner, node.slice):
                self.machine.operators.combines(node, owner.loaders, frame)
            return replace(owner, dim=None, nested=False)
        made = self.machine.gathering.gather(node.value, owner, frame)
        for key, (value, _) in zip(keys, values, strict=True):
            self.machine.gathering.gather(key, value, frame)
        if isinstance(made, Gathered) and isinstance(first, Gathered) and first.order:
            # The rows in another order, as in mixup: each worker takes those of its samples.
            rows = shapes.index(owner, Const("all"), True, values[1:])
            return (
                self.machine.own_rows.cut(node, rows, frame) or made
                if isinstance(rows, Shard)
                else made
            )
        return aligned_like(made, False)

    # Functions of torch and numpy on tensors.
    def _function(self, name: str, last: str, node: ast.Call, frame: Frame) -> Value | None:
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = [*positional, *keywords.values()]
        if name == "torch.tensor" and positional and isinstance(positional[0], Const):
            return positional[0]
        if last in ("zeros", "zeros_like") and not any(holds_share(value) for value in values):
            loop = self.path.loop
            return Const(0, loop)
        if not values or not any(holds_share(value) for value in values):
            return None
        if last in ("cat", "concat", "stack", "hstack", "concatenate"):
            items, all_known = stacking.items_of(positional[0] if positional else PLAIN)
            if any(isinstance(item, Share) for item in items):
                dim = keywords.get("dim") or keywords.get("axis") or (*positional, Const(0))[1]
                result = stacking.joined(last, items, dim, all_known=all_known)
                return result or (
                    self.machine.unknown.assumed(node, items, frame)
                    if frame.policy.assumes_rows
                    else None
                )
            return None
        shares = [value for value in values if isinstance(value, Share)]
        if not shares:
            return None
        if isinstance(positional[0] if positional else PLAIN, Share):
            first = positional[0]
            assert isinstance(first, Share)
            result = tensors.method(last, first, positional[1:], keywords)
        elif last in ("where", "maximum", "minimum") or last in tables.ELEMENTWISE:
            result = tensors.method("where", shares[0], shares[1:], {})
        else:
            result = None
        if result is not None:
            return result
        if frame.policy.assumes_rows:
            if last in ("matmul", "mm"):
                self._watch_products(node, shares, frame)
            spec = positional if last == "einsum" else positional[1:]
            if isinstance(shares[0], Shard) and mixes_rows(last, shares[0], spec, keywords):
                self.machine.operators.combines(node, shares[0].loaders, frame)
            if isinstance(shares[0], Shard) and is_figure(last, positional[1:], keywords):
                return Lost(shares[0].loaders, "it is a figure of a slice")
            return self.machine.unknown.assumed(node, values, frame)
        return None

    def _watch_products(self, node: ast.Call, shares: list[Share], frame: Frame) -> None:
        if len(shares) == 2:
            self.machine.operators.mixing(node, shares[0], shares[1], frame)

    def _changed_to_rows(self, node: ast.Call, name: str, frame: Frame) -> None:
        """A tensor that outlives the batch is filled with its rows, or made as long."""
        positional, keywords = self.machine.calls.arguments(node, frame)
        given = [value for value in (*positional, *keywords.values()) if holds_share(value)]
        if any(isinstance(value, Shard | Count | ShardShape) for value in given):
            self.notes.trouble(
                "weight", "holds-rows", node, frame, first_share(given[0]).loaders, name=name
            )

    def _method(self, node: ast.Call, function: ast.Attribute, owner: Share, frame: Frame) -> Value:
        self.notes.escapes.drop(function.value, frame)
        positional, keywords = self.machine.calls.arguments(node, frame)
        if isinstance(owner, Lost):
            return owner
        result = tensors.method(function.attr, owner, positional, keywords)
        if result is not None:
            return result
        if frame.policy.assumes_rows:
            if isinstance(owner, Shard):
                if function.attr in ("view", "reshape"):
                    self._hard_wired(node, owner, positional, frame)
                elif mixes_rows(function.attr, owner, positional, keywords):
                    self.machine.operators.combines(node, owner.loaders, frame)
                elif function.attr == "size":
                    return PLAIN
                elif is_figure(function.attr, positional, keywords):
                    return Lost(owner.loaders, "it is a figure of a slice", models=owner.models)
            return self.machine.unknown.assumed(
                node, [owner, *positional, *keywords.values()], frame
            )
        if function.attr.endswith("_") and not function.attr.endswith("__"):
            # The whole would be a copy, and the change would be lost with it.
            self.notes.trouble(
                "weight", "changed-in-place", node, frame, owner.loaders, name=function.attr
            )
            return Lost(owner.loaders, "it is changed in place", models=owner.models)
        made = self.machine.gathering.gather(function.value, owner, frame)
        made = aligned_like(made, is_aligned(made) and keeps_rows(function.attr))
        self.machine.calls.gathered_arguments(node, frame)
        first = isinstance(owner, Shard) and owner.dim == 0
        return tensors.reduced(function.attr, made, positional, keywords, rows_first=first)

    def _hard_wired(self, node: ast.Call, owner: Shard, sizes: list[Value], frame: Frame) -> None:
        """A batch size written into a view does not fit a slice."""
        plain = len(sizes) > 1 and type(sizes[0]) in (Value, Const)
        if owner.dim == 0 and plain and not isinstance(node.args[0], ast.Starred):
            self.notes.trouble("network", "fixed-size", node, frame, owner.loaders)
