"""What `torch.cat` and `torch.stack` make of shares."""

from collections.abc import Sequence
from dataclasses import replace

from trainera.read.ops import tensors
from trainera.read.ops.shapes import number_of
from trainera.read.values import Items, Mean, Shard, Share, Sum, Value, compatibility
from trainera.read.values.join import element


def items_of(tensors_given: Value) -> tuple[list[Value], bool]:
    """What is put together, and whether it is known how many there are."""
    if isinstance(tensors_given, Items):
        return list(tensors_given.items), True
    return [element(tensors_given)], False


def joined(name: str, items: Sequence[Value], dim: Value, *, all_known: bool) -> Value | None:
    """The result; None where the algebra of shares has no answer."""
    shares = [item for item in items if isinstance(item, Share)]
    lost = compatibility.mixed(*shares)
    if lost or compatibility.meets_rows(*items):
        return lost
    first = shares[0]
    models = frozenset().union(*(share.models for share in shares))
    for figure in (Mean, Sum):
        if all(isinstance(item, figure) for item in items):
            return figure(first.loaders, models=models)
    shards = [item for item in shares if isinstance(item, Shard)]
    along = number_of(dim)
    if along is None or len(shards) < len(shares):
        return None
    combined = tensors.combine(shards)
    if combined is None or combined.dim is None:
        return None
    if name == "stack":
        up = 0 <= along <= combined.dim
        return replace(combined, dim=combined.dim + up, rank=None, models=models)
    if along != combined.dim:
        return replace(combined, models=models)
    views = all_known and len(shards) == len(items) and combined.parts == 1
    if views and combined.dim == 0 and not combined.ragged:
        # Two views of the same samples, as in contrastive learning: the slices of all views.
        return replace(combined, parts=len(items), nested=False, models=models)
    return None
