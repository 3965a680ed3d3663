"""Entries that are looked up, picked or written by their places."""

from collections.abc import Callable
from dataclasses import replace

from trainera.read.ops.elementwise import combine, rank_of
from trainera.read.ops.layout import at, from_end, is_batch
from trainera.read.ops.outcome import MIXED, UNKNOWN, Outcome
from trainera.read.ops.signature import Bound
from trainera.read.values import Answer, Const, LibraryObject, Shard, Value


def along_rows(index: str, *values: str) -> Callable[[Bound], Outcome]:
    """``gather`` and ``scatter``: along another dimension than the batch each row has its own.

    So the places, and what is written there, have to be rows of the batch, too.
    """

    def rule(call: Bound) -> Outcome:
        shard, places = call.input, call[index]
        if not isinstance(shard, Shard) or not isinstance(places, Shard):
            return UNKNOWN
        dims = call.dims()
        if dims is None or isinstance(dims, str):
            return UNKNOWN
        others = [call[name] for name in values]
        rows = [shard, places, *(one for one in others if isinstance(one, Shard))]
        if any(one.dim != shard.dim or one.ragged or one.parts != shard.parts for one in rows):
            return UNKNOWN
        answers = {is_batch(one, dims[0]) for one in rows}
        if answers != {Answer.NO}:
            return MIXED if Answer.YES in answers else UNKNOWN
        numbers = [one for name, one in zip(values, others, strict=True) if name in call.given]
        if any(not isinstance(one, Shard) and _may_have_rows(one) for one in numbers):
            return UNKNOWN
        models = frozenset().union(*(one.models for one in rows))
        rank = next((one.rank for one in rows if one.rank is not None), None)
        return at(replace(shard, models=models, nested=False), shard.dim, rank)

    return rule


def _may_have_rows(value: Value) -> bool:
    """Whether what is written may be a tensor with a row for each of the whole batch."""
    return not isinstance(value, Const)


def index_select(call: Bound) -> Outcome:
    """The same places of every row."""
    shard = call.input
    if not isinstance(shard, Shard) or isinstance(call["index"], Shard):
        return UNKNOWN
    return _along(shard, call)


def _along(shard: Shard, call: Bound) -> Outcome:
    dims = call.dims()
    if dims is None or isinstance(dims, str):
        return UNKNOWN
    return replace(shard, nested=False) if is_batch(shard, dims[0]) is Answer.NO else UNKNOWN


def masked_select(call: Bound) -> Outcome:
    """Entries of which a condition holds: how many, each slice has its own."""
    shard, mask = call.input, call["mask"]
    if not isinstance(shard, Shard) or shard.dim != 0:
        return UNKNOWN
    if not isinstance(mask, Shard):  # the same entries of every row
        rank = rank_of(mask) if isinstance(mask, LibraryObject) else None
        apart = rank is not None and rank < shard.least
        return at(replace(shard, nested=False), 0, 1) if apart else UNKNOWN
    if mask.dim != 0 or shard.ragged or mask.ragged or shard.parts > 1 or mask.parts > 1:
        return UNKNOWN
    ends = from_end(shard), from_end(mask)
    if None not in ends and ends[0] != ends[1]:
        return MIXED
    return at(replace(shard, ragged=True, nested=False), 0, 1)


def looked_up(call: Bound) -> Outcome:
    """``bucketize(x, bounds)``: each entry in a table that all workers have."""
    shard = call.input
    if not isinstance(shard, Shard) or len(call.shards) > 1:
        return UNKNOWN
    return replace(shard, nested=False, mask=False, models=frozenset())


def searched(call: Bound) -> Outcome:
    """``searchsorted(bounds, x)``: the table comes first, and may have a row for each of x."""
    shard = call["values"]
    table = call.input
    if not isinstance(shard, Shard):
        return UNKNOWN
    if isinstance(table, Shard):
        both = combine([table, shard])
        apart = isinstance(both, Shard) and is_batch(both, -1) is Answer.NO
        return both if apart else UNKNOWN
    return replace(shard, nested=False, mask=False, models=frozenset())


def written(call: Bound) -> Outcome:
    """``index_add`` and its like: into the same places of every row, from rows of the batch."""
    shard, source, dims = call.input, call["source"], call.dims()
    if not isinstance(shard, Shard) or not isinstance(source, Shard):
        return UNKNOWN
    if isinstance(call["index"], Shard) or dims is None or isinstance(dims, str):
        return UNKNOWN
    rows = combine([shard, source])
    apart = isinstance(rows, Shard) and is_batch(rows, dims[0]) is Answer.NO
    return rows if apart else UNKNOWN
