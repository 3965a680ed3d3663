"""Tensors put together: side by side along a dimension, or as a new one."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trainera.read.ops.elementwise import combine, rank_of
from trainera.read.ops.layout import at, is_batch, with_new
from trainera.read.ops.outcome import UNKNOWN, Outcome
from trainera.read.ops.reshaping import lifted
from trainera.read.ops.signature import Bound
from trainera.read.values import Answer, Gathered, Items, Many, Mean, Shard, Share, Sum, Value


def listed(value: Value) -> tuple[list[Value], bool]:
    """What is put together, and whether it is known how many there are."""
    if isinstance(value, Items):
        return list(value.items), True
    return ([value.element], False) if isinstance(value, Many) else ([value], False)


def _rows(items: Sequence[Value]) -> Shard | None:
    """The shards among the items, if they are laid out alike and nothing else is a share."""
    shards = [item for item in items if isinstance(item, Shard)]
    if not shards or any(isinstance(item, Share) and item not in shards for item in items):
        return None
    if len({shard.dim for shard in shards}) > 1:
        return None
    combined = combine(shards)
    return combined if isinstance(combined, Shard) else None


def _figures(items: Sequence[Value]) -> Value | None:
    """Sums, or means, in one tensor are one."""
    for figure in (Mean, Sum):
        if items and all(isinstance(item, figure) for item in items):
            shares = [item for item in items if isinstance(item, Share)]
            models = frozenset().union(*(share.models for share in shares))
            return figure(shares[0].loaders, models=models)
    return None


def cat(call: Bound) -> Outcome:
    """Side by side along a dimension that is there."""
    return joined(call["tensors"], call.number("dim"))


def joined(tensors: Value, along: int | None) -> Outcome:
    """Along another dimension than the batch row by row; along it, the slices of several views."""
    items, all_known = listed(tensors)
    figures = _figures(items)
    if figures is not None:
        return figures
    rows = _rows(items)
    if rows is None or along is None or rows.dim is None:
        return UNKNOWN
    shards = [item for item in items if isinstance(item, Shard)]
    match is_batch(rows, along):
        case Answer.MAYBE:
            return UNKNOWN
        case Answer.NO:
            # What is no share has to have the rows of each slice: it is made to their number.
            ranks = {rank_of(item) for item in items if not isinstance(item, Shard | Gathered)}
            return rows if ranks <= {0} else UNKNOWN
    views = all_known and len(shards) == len(items) and rows.parts == 1
    if views and rows.dim == 0 and not rows.ragged:
        return replace(rows, parts=len(items), nested=False)
    return UNKNOWN


def stack(call: Bound) -> Outcome:
    """As a new dimension."""
    items, _ = listed(call["tensors"])
    figures = _figures(items)
    if figures is not None:
        return figures
    rows, place = _rows(items), call.number("dim")
    if rows is None or place is None:
        return UNKNOWN
    return with_new(replace(rows, nested=False), place)


def beside(call: Bound) -> Outcome:
    """``hstack``: along the second dimension, or the only one."""
    ranks = {item.rank for item in listed(call["tensors"])[0] if isinstance(item, Shard)}
    if ranks == {1}:
        return joined(call["tensors"], 0)
    return _lifted(call["tensors"], lambda shard: shard if shard.least > 1 else None, 1)


def behind(call: Bound) -> Outcome:
    """``dstack``: along the third dimension, which vectors and matrices get."""
    return _lifted(call["tensors"], lambda shard: lifted(shard, 3), 2)


def columns(call: Bound) -> Outcome:
    """``column_stack``: vectors become columns."""
    return _lifted(
        call["tensors"],
        lambda shard: at(shard, 0, 2) if shard.rank == 1 else shard if shard.least > 1 else None,
        1,
    )


def rows(call: Bound) -> Outcome:
    """``vstack``: vectors become rows, of which each is as long as the batch."""
    return _lifted(call["tensors"], lambda shard: lifted(shard, 2), 0)


def _lifted(tensors: Value, lift: Callable[[Shard], Shard | None], along: int) -> Outcome:
    """Put together after each has got the dimensions that it lacks."""
    items, all_known = listed(tensors)
    figures = _figures(items)
    if figures is not None:
        return figures
    made = [lift(item) if isinstance(item, Shard) else item for item in items]
    known = [item for item in made if item is not None]
    if len(known) < len(made) or not known:
        return UNKNOWN
    return joined(Items(tuple(known)) if all_known else Many(known[0]), along)


def broadcast(call: Bound) -> Outcome:
    """Each as it is when all are stretched to fit."""
    items, _ = listed(call["tensors"])
    shard = combine([item for item in items if isinstance(item, Shard)], items)
    return Items((shard,) * len(items)) if isinstance(shard, Shard) else shard
