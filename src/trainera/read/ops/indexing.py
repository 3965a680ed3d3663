"""Items and sizes of shards: ``x[:, 0]``, ``x[mask]``, ``x.shape[1:]``."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trainera.read.ops.layout import at, is_batch
from trainera.read.ops.outcome import MIXED, UNKNOWN, Outcome
from trainera.read.ops.signature import number_of
from trainera.read.values import (
    PLAIN,
    Answer,
    Const,
    Count,
    Items,
    Qualified,
    Shard,
    ShardShape,
    Sum,
    Value,
)


@dataclass(frozen=True)
class Key:
    """One part of an index."""

    value: Value
    is_slice: bool = False
    is_call: bool = False
    """Made on the spot, such as a permutation."""

    @property
    def everything(self) -> bool:
        """A colon alone."""
        return self.is_slice and self.value == Const("all")

    @property
    def new(self) -> bool:
        """A dimension that is put in."""
        nothing = isinstance(self.value, Const) and self.value.value is None
        return nothing or self.value == Qualified("numpy.newaxis")

    @property
    def rest(self) -> bool:
        """An ellipsis."""
        return isinstance(self.value, Const) and self.value.value is Ellipsis


def index(shard: Shard, keys: Sequence[Key]) -> Outcome:
    """``shard[keys]``."""
    first = keys[0].value
    if isinstance(first, Const) and isinstance(first.value, str) and not keys[0].is_slice:
        return replace(shard, nested=False)
    if shard.nested and len(keys) == 1 and number_of(first) is not None:
        return replace(shard, nested=False)
    listed = shard.listed if len(keys) == 1 and keys[0].everything else Answer.NO
    shard = replace(shard, nested=False, listed=listed)
    if isinstance(first, Shard):
        return _by_rows(shard, first, keys[1:])
    if any(isinstance(key.value, Shard) for key in keys):
        return MIXED  # columns picked by the rows of the batch: every row meets every other
    chosen = [key for key in keys if not (key.is_slice or key.new or key.rest)]
    tensors = [key for key in chosen if number_of(key.value) is None]
    if len(tensors) > 1 or (tensors and len(chosen) > 1):
        return UNKNOWN  # several lists of places are taken together, and move to the front
    before, behind = _apart(keys)
    return _placed(shard, before, behind)


def _by_rows(shard: Shard, key: Shard, rest: Sequence[Key]) -> Outcome:
    """Rows of which a condition holds; numbers of a slice's rows would point to others."""
    if not key.mask or key.dim != 0 or shard.dim != 0 or rest:
        return UNKNOWN
    if key.parts > 1 or shard.parts > 1 or shard.ragged:
        return UNKNOWN
    rank = None
    if shard.rank is not None and key.rank is not None:
        rank = shard.rank - key.rank + 1
    return at(replace(shard, ragged=True), 0, rank, 1 if rank is None else rank)


def _apart(keys: Sequence[Key]) -> tuple[list[Key], list[Key]]:
    """What stands before an ellipsis, and what behind it."""
    for place, key in enumerate(keys):
        if key.rest:
            return list(keys[:place]), list(keys[place + 1 :])
    return list(keys), []


def _placed(shard: Shard, before: list[Key], behind: list[Key]) -> Outcome:
    new = sum(key.new for key in (*before, *behind))
    gone = sum(not (key.is_slice or key.new) for key in (*before, *behind))
    sure = all(
        key.is_slice or key.new or number_of(key.value) is not None for key in (*before, *behind)
    )
    rank = shard.rank + new - gone if shard.rank is not None and sure else None
    least = max(shard.least + new - gone, 1)
    if shard.dim is None:
        return at(shard, None, rank, least)
    place, met = _from_front(shard, before)
    if met is not None:
        return met
    if behind:
        count = sum(not key.new for key in behind)
        answers = {is_batch(shard, -1 - one) for one in range(count)}
        if answers - {Answer.NO}:
            return UNKNOWN
        if shard.dim < 0:
            return at(shard, None, rank, least)
    return at(shard, place, rank, least)


def _from_front(shard: Shard, keys: list[Key]) -> tuple[int | None, Outcome | None]:
    """Where the batch goes, or what becomes of the rows if a key is for the batch itself."""
    dim, out = 0, 0
    batch = shard.dim
    assert batch is not None
    if batch < 0:
        touched = sum(not key.new for key in keys)
        if shard.least + batch < touched:  # the batch may be among them
            return None, UNKNOWN
        changes = any(not key.is_slice for key in keys)
        return (None if changes else batch), None
    for key in keys:
        if key.new:
            out += 1
            continue
        if dim == batch:
            if key.everything:
                return out, None
            certain = key.is_slice or key.is_call or number_of(key.value) is not None
            return None, MIXED if certain else UNKNOWN
        if not key.is_slice and number_of(key.value) is None:
            return None, None  # one entry, or several: the batch is behind it
        out += key.is_slice
        dim += 1
    return out + (batch - dim), None


def shape_of(shard: Shard) -> ShardShape:
    """The shape of a shard."""
    return ShardShape(
        shard.loaders,
        dim=shard.dim,
        ragged=shard.ragged,
        rank=shard.rank,
        least=shard.least,
    )


def _as_shard(shape: ShardShape) -> Shard:
    return Shard(shape.loaders, dim=shape.dim, rank=shape.rank, least=shape.least)


def size(shape: ShardShape, key: Value) -> Value | None:
    """One entry of a shape; None if it may be that of the batch, or not."""
    number = number_of(key)
    if number is None:
        return None
    match is_batch(_as_shard(shape), number):
        case Answer.YES:
            return Sum(shape.loaders) if shape.ragged else Count(shape.loaders)
        case Answer.NO:
            return PLAIN
    return None


def sizes(shape: ShardShape, lower: Value | None, upper: Value | None) -> Value | None:
    """Several entries of a shape, ``x.shape[1:]``; None if it is not known whether the batch's."""
    start = 0 if lower is None else number_of(lower)
    stop = None if upper is None else number_of(upper)
    if start is None or (upper is not None and stop is None) or shape.dim is None:
        return None
    shard = _as_shard(shape)
    if start >= 0 and stop is not None and stop >= 0:
        entries = [size(shape, Const(one)) for one in range(start, stop)]
        known = [entry for entry in entries if entry is not None]
        return Items(tuple(known)) if len(known) == len(entries) else None
    if shape.dim >= 0 and start > shape.dim:
        return PLAIN
    if start < 0 and stop is None:
        answers = {is_batch(shard, one) for one in range(start, 0)}
        return PLAIN if answers == {Answer.NO} else None
    if stop is not None and stop < 0 and start >= 0 and shape.rank is not None:
        return sizes(shape, lower, Const(stop + shape.rank))
    return None
