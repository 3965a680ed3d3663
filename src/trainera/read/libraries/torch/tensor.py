"""Tensors that are parts of a batch: functions, methods, attributes and items."""

import ast
from collections.abc import Sequence
from dataclasses import replace

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.libraries import numpy
from trainera.read.libraries.torch import operations
from trainera.read.ops import figures, indexing
from trainera.read.ops.indexing import Key
from trainera.read.ops.outcome import UNKNOWN, Figure, Mixed, Outcome, leaves_rows
from trainera.read.ops.table import Operation
from trainera.read.values import (
    PLAIN,
    Answer,
    Const,
    Count,
    Gathered,
    Items,
    LibraryObject,
    Lost,
    Many,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Value,
    compatibility,
)
from trainera.read.values.contents import first_share, flat, holds_share
from trainera.read.values.gathered import aligned_like, gathered_of, is_aligned

NOT_A_SHARE = {"device", "dtype", "is_cuda", "ndim", "requires_grad", "grad_fn", "dim", "layout"}
NOT_A_SHARE |= {"is_leaf", "is_mps", "is_quantized", "is_sparse", "is_xpu", "itemsize"}
QUESTIONS = frozenset(
    {
        *("item", "sum", "mean", "tolist", "backward", "dim", "size", "numel", "norm", "clone"),
        *("abs", "sqrt", "exp", "log", "pow", "max", "min", "argmax", "add", "sub", "mul", "div"),
        *("matmul", "copy", "astype", "std", "var", "any", "all", "eq", "ne", "lt", "gt", "le"),
        *("ge", "neg"),
    }
)
"""Methods that neither change a tensor nor give a view of it."""
FACTS = frozenset(
    {"shape", "dtype", "device", "ndim", "requires_grad", "is_cuda", "grad_fn", "layout"}
)
"""Attributes through which a tensor cannot be changed."""
PROPERTIES = {"T", "mT", "H", "mH", "data", "real", "imag"}


def operation(name: str) -> Operation | None:
    """An operation on tensors or arrays by its qualified name."""
    return operations.operation(name) or numpy.operation(name)


def method(name: str, *, array: bool = False) -> Operation | None:
    """A method of a tensor, or of an array."""
    return (numpy.method(name) if array else None) or operations.method(name)


TAKES_SIZES = {
    *("zeros", "ones", "empty", "full", "rand", "randn", "randint", "normal", "Size", "tile"),
    *("new_zeros", "new_ones", "new_empty", "new_full", "expand", "repeat", "view", "reshape"),
    *("broadcast_to", "unflatten", "repeat_interleave"),
}
"""What takes the number of rows for a size."""


class Tensors(Library):
    """What is done to parts of a batch, and to what was gathered of it."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        if not name.startswith(("torch.", "numpy.")):
            return None
        return self._function(name, name.rsplit(".", 1)[-1], node, frame)

    def plain_method(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        if name.endswith("_") and not name.startswith("_") and frame.policy.follows_lifetimes:
            self._changed_to_rows(node, name, frame)
        return self._of_replicated(node, name, owner, frame)

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
        if node.attr in NOT_A_SHARE:
            return PLAIN
        if isinstance(owner, Shard):
            if node.attr == "shape":
                return indexing.shape_of(owner)
            if node.attr in PROPERTIES:
                known = method(node.attr)
                turned = known.apply([owner], {}) if known is not None else UNKNOWN
                return turned if isinstance(turned, Value) else replace(owner, dim=None)
            if owner.nested:
                return owner
            if node.attr == "grad":
                return self._gradient_of_rows(node, owner, frame)
            if frame.policy.assumes_rows:
                self.notes.unsure_of(node, frame)
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
            return self._of_shape(node, owner, frame)
        if not isinstance(owner, Shard):
            return owner
        self.notes.cuts.drop(node, frame)
        self.notes.escapes.drop(node.value, frame)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        keys = [
            Key(
                self.machine.eval(part, frame),
                isinstance(part, ast.Slice),
                isinstance(part, ast.Call),
            )
            for part in parts
        ]
        values = [key.value for key in keys]
        met = compatibility.meets_rows(owner, *values)
        result = UNKNOWN if met else indexing.index(owner, keys)
        if isinstance(result, Value):
            for part, value in zip(parts, values, strict=True):
                if holds_share(value) and not isinstance(value, Shard):
                    self.machine.gathering.gather(part, value, frame)
            return result
        if frame.policy.assumes_rows:
            if isinstance(result, Mixed) and result.certain:
                self.machine.operators.combines(node, owner.loaders, frame)
            else:
                self.notes.unsure_of(node, frame)
            return replace(owner, dim=None, nested=False, rank=None, least=1)
        made = self.machine.gathering.gather(node.value, owner, frame)
        for part, value in zip(parts, values, strict=True):
            self.machine.gathering.gather(part, value, frame)
        if isinstance(made, Gathered) and isinstance(values[0], Gathered) and values[0].order:
            # The rows in another order, as in mixup: each worker takes those of its samples.
            rows = indexing.index(owner, [Key(Const("all"), True), *keys[1:]])
            if isinstance(rows, Shard):
                return self.machine.own_rows.cut(node, rows, frame) or made
        return aligned_like(made, False)

    def _of_shape(self, node: ast.Subscript, owner: ShardShape, frame: Frame) -> Value:
        """``x.shape[0]`` is the number of samples, the others are the same on every worker."""
        key = node.slice
        if isinstance(key, ast.Slice):
            bounds = [
                None if part is None else self.machine.eval(part, frame)
                for part in (key.lower, key.upper)
            ]
            value = indexing.sizes(owner, *bounds) if key.step is None else None
        else:
            value = indexing.size(owner, self.machine.eval(key, frame))
        if value is not None:
            return value
        if frame.policy.gathers:
            return self.machine.gathering.gather(node.value, owner, frame)
        self.notes.unsure_of(node, frame)
        return PLAIN

    def _settled(
        self, outcome: Outcome, node: ast.expr, values: list[Value], frame: Frame
    ) -> Value | None:
        """What comes of an operation; None where the whole has to be given, outside of networks."""
        self.notes.unsure.drop(node, frame)
        if isinstance(outcome, Value):
            return outcome
        if frame.policy.gathers:
            return None
        if isinstance(outcome, Figure):
            share = first_share(Items(tuple(values)))
            return Lost(share.loaders, "it is a figure of a slice", models=share.models)
        if outcome.certain:
            loaders = first_share(Items(tuple(values))).loaders
            self.machine.operators.combines(node, loaders, frame)
        else:
            self.notes.unsure_of(node, frame)
        return outcome.likely or self.machine.unknown.assumed(node, values, frame)

    def _function(self, name: str, last: str, node: ast.Call, frame: Frame) -> Value | None:
        """A function of torch or numpy on tensors; None if it is nothing of that kind."""
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = [*positional, *keywords.values()]
        made_at = frozenset({(frame.home, node)})
        if name == "torch.tensor" and positional and isinstance(positional[0], Const):
            return replace(positional[0], made_at=made_at)
        if last in ("zeros", "zeros_like") and not any(holds_share(value) for value in values):
            return Const(0, self.path.loop, made_at)
        inside = [part for value in values for part in flat(value)]
        shares = [part for part in inside if isinstance(part, Share)]
        if not shares:
            return None
        self._sized(node, last, shares, frame)
        known = operation(name)
        outcome: Outcome | None = self._outcome(known, last, positional, keywords)
        result = self._settled(outcome or UNKNOWN, node, inside, frame)
        if result is not None:
            return result
        return self._of_whole(known, outcome, node, positional, keywords, frame)

    def _outcome(
        self,
        known: Operation | None,
        name: str,
        positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> Outcome | None:
        """What an operation makes of shares; None if nothing can be told."""
        values = [*positional, *keywords.values()]
        lost = compatibility.mixed(*values)
        if lost or compatibility.meets_rows(*values):
            return lost
        if any(isinstance(value, PerWorker) for value in values):
            return None
        first = positional[0] if positional else None
        if isinstance(first, Share) and not isinstance(first, Shard):
            return figures.method(name, first, positional[1:])
        return known.apply(positional, keywords) if known is not None else None

    def _of_whole(
        self,
        known: Operation | None,
        outcome: Outcome | None,
        node: ast.Call,
        positional: Sequence[Value],
        keywords: dict[str, Value],
        frame: Frame,
    ) -> Value | None:
        """The same of the whole batch's values, which every worker has then."""
        if known is None:
            return None
        made = gathered_of(*self.machine.calls.gathered_arguments(node, frame))
        if not isinstance(made, Gathered):
            return made
        first = positional[0] if positional else PLAIN
        aligned = known.keeps_rows and isinstance(first, Shard) and first.dim == 0
        rows = made.rows and leaves_rows(outcome)
        models = frozenset() if known.ends_gradient else made.models
        return replace(made, rows=rows, aligned=aligned and rows, models=models)

    def method_of_gathered(
        self, name: str, made: Value, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> Value:
        """Are there still rows of the batch, and a gradient?"""
        known = method(name)
        if not isinstance(made, Gathered) or known is None:
            return made
        rows = Shard(made.loaders, dim=0 if made.aligned else None)
        left = made.rows and leaves_rows(known.apply([rows, *positional], keywords))
        models = frozenset() if known.ends_gradient else made.models
        return replace(
            made, rows=left, aligned=made.aligned and known.keeps_rows and left, models=models
        )

    def _of_replicated(self, node: ast.Call, name: str, owner: Value, frame: Frame) -> Value | None:
        """A method of a tensor that all workers have alike, given parts of a batch.

        None where that is not known, or the whole has to be given, outside of networks.
        """
        known = None if name.endswith("_") else method(name)
        made = isinstance(owner, LibraryObject) and owner.name.startswith(("torch.", "numpy."))
        if known is None or not (made or frame.policy.assumes_rows):
            return None
        positional, keywords = self.machine.calls.arguments(node, frame)
        values = [part for value in (*positional, *keywords.values()) for part in flat(value)]
        if not any(isinstance(value, Share) for value in values):
            return None
        self._sized(node, name, values, frame)
        outcome = self._outcome(known, name, [owner, *positional], keywords)
        return self._settled(outcome or UNKNOWN, node, values, frame)

    def _sized(self, node: ast.Call, name: str, values: Sequence[Value], frame: Frame) -> None:
        """Inside a network: the number of rows is used for something else than a size."""
        if frame.policy.inside_network and name not in TAKES_SIZES:
            shares = [value for value in values if isinstance(value, Share)]
            if any(isinstance(value, Count) for value in shares):
                self.notes.unsure_of(node, frame)

    def _changed_to_rows(self, node: ast.Call, name: str, frame: Frame) -> None:
        """A tensor that outlives the batch is filled with its rows, or made as long."""
        positional, keywords = self.machine.calls.arguments(node, frame)
        given = [value for value in (*positional, *keywords.values()) if holds_share(value)]
        if any(isinstance(value, Shard | Count | ShardShape) for value in given):
            self.notes.trouble(
                "weight", "holds-rows", node, frame, first_share(given[0]).loaders, name=name
            )

    def _method(self, node: ast.Call, function: ast.Attribute, owner: Share, frame: Frame) -> Value:
        name = function.attr
        self.notes.escapes.drop(function.value, frame)
        positional, keywords = self.machine.calls.arguments(node, frame)
        if isinstance(owner, Lost):
            return owner
        part = self._of_structure(name, owner) if isinstance(owner, Shard) else None
        if part is not None:
            return part
        if name == "size" and isinstance(owner, Shard):
            return self._size(node, owner, positional or list(keywords.values()), frame)
        if isinstance(owner, Shard) and owner.listed is Answer.MAYBE and name == "copy":
            return owner  # of an array, or of a list
        array = isinstance(owner, Shard) and owner.array
        listed = isinstance(owner, Shard) and owner.listed is Answer.YES
        known = None if listed else method(name, array=array)
        outcome = self._outcome(known, name, [owner, *positional], keywords)
        in_place = name.endswith("_") and not name.endswith("__")
        if in_place and isinstance(outcome, Shard) and isinstance(owner, Shard):
            outcome = outcome if outcome.dim == owner.dim else UNKNOWN
        if frame.policy.assumes_rows and isinstance(owner, Shard) and isinstance(outcome, Mixed):
            if name in ("view", "reshape"):
                self._hard_wired(node, owner, positional, frame)
        values = [
            part for value in (owner, *positional, *keywords.values()) for part in flat(value)
        ]
        result = self._settled(outcome or UNKNOWN, node, values, frame)
        if result is not None:
            return result
        if in_place:
            # The whole would be a copy, and the change would be lost with it.
            self.notes.trouble("weight", "changed-in-place", node, frame, owner.loaders, name=name)
            return Lost(owner.loaders, "it is changed in place", models=owner.models)
        made = self.machine.gathering.gather(function.value, owner, frame)
        self.machine.calls.gathered_arguments(node, frame)
        if not isinstance(made, Gathered):
            return made
        aligned = is_aligned(made) and known is not None and known.keeps_rows
        return replace(made, rows=made.rows and leaves_rows(outcome), aligned=aligned)

    def _of_structure(self, name: str, owner: Shard) -> Value | None:
        """A dictionary of a batch's parts."""
        if name == "items" and owner.nested:
            return Many(Items((PLAIN, owner)))
        if name in ("values", "keys") and owner.nested:
            return Many(owner if name == "values" else PLAIN)
        return owner if name in ("get", "pop") and owner.nested else None

    def _size(self, node: ast.Call, owner: Shard, arguments: list[Value], frame: Frame) -> Value:
        shape = indexing.shape_of(owner)
        if not arguments:
            return shape
        value = indexing.size(shape, arguments[0])
        if value is not None:
            return value
        if frame.policy.assumes_rows:
            self.notes.unsure_of(node, frame)
            return PLAIN
        assert isinstance(node.func, ast.Attribute)
        made = self.machine.gathering.gather(node.func.value, owner, frame)
        return replace(made, rows=False, number=True) if isinstance(made, Gathered) else made

    def _hard_wired(self, node: ast.Call, owner: Shard, sizes: list[Value], frame: Frame) -> None:
        """A batch size written into a view does not fit a slice."""
        plain = len(sizes) > 1 and type(sizes[0]) in (Value, Const)
        if owner.dim == 0 and plain and not isinstance(node.args[0], ast.Starred):
            self.notes.trouble("network", "fixed-size", node, frame, owner.loaders)
