"""Where the batch lies among the dimensions of a shard, as far as that is known.

A shard's `dim` counts from the front, or, if negative, from the end, where only that distance is
known. Its rank may be unknown; then `least` bounds it from below. Every question about a dimension
is answered by YES, NO or MAYBE, and MAYBE never passes for NO.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from trainera.read.values import Answer, Shard
from trainera.read.values.base import changed


def from_end(shard: Shard) -> int | None:
    """The place of the batch counted from the end: that is how torch aligns what it broadcasts."""
    if shard.dim is None:
        return None
    if shard.dim < 0:
        return shard.dim
    return shard.dim - shard.rank if shard.rank is not None else None


def side(shard: Shard, dim: int) -> int | None:
    """Where a dimension lies: before the batch (-1), at it (0), behind it (1); None: not known."""
    if shard.dim is None:
        return None
    batch, rank, least = shard.dim, shard.rank, shard.least
    if rank is not None:
        batch, dim = (place + rank if place < 0 else place for place in (batch, dim))
        return (dim > batch) - (dim < batch)
    if (batch < 0) == (dim < 0):
        return (dim > batch) - (dim < batch)
    if batch >= 0:
        return 1 if least + dim > batch else None
    return -1 if dim - least < batch else None


def is_batch(shard: Shard, dim: int) -> Answer:
    """Whether a dimension, counted from either end, is the one along which the batch is cut."""
    where = side(shard, dim)
    if where is None:
        return Answer.MAYBE
    return Answer.YES if where == 0 else Answer.NO


def touches(shard: Shard, dims: Iterable[int] | None) -> Answer:
    """Whether the batch is among these dimensions; None: it is not known which they are."""
    if dims is None:
        return Answer.MAYBE
    answers = {is_batch(shard, dim) for dim in dims}
    if Answer.YES in answers:
        return Answer.YES
    return Answer.MAYBE if Answer.MAYBE in answers else Answer.NO


def named(shard: Shard, dims: Iterable[int]) -> Shard:
    """The shard that has these dimensions: else torch would have ended with an error."""
    bound = max((dim + 1 if dim >= 0 else -dim for dim in dims), default=1)
    return shard if bound <= shard.least else replace(shard, least=bound)


def without(shard: Shard, dims: Sequence[int]) -> Shard:
    """The shard when these dimensions, none of which is the batch, are gone."""
    gone = len(set(dims))
    rank = None if shard.rank is None else shard.rank - gone
    least = max(shard.least - gone, 1)
    dim = shard.dim
    if dim is not None:
        sides = [side(shard, one) for one in dims]
        if None in sides:
            dim = None
        elif dim >= 0:
            dim -= sum(where == -1 for where in sides)
        else:
            dim += sum(where == 1 for where in sides)
    return replace(shard, dim=dim, rank=rank, least=least)


def with_new(shard: Shard, place: int, size: int = 1) -> Shard:
    """The shard with so many dimensions put in, the first of them at that place of the result."""
    rank = None if shard.rank is None else shard.rank + size
    least = shard.least + size
    dim, old = shard.dim, shard.least
    if dim is None:
        return replace(shard, rank=rank, least=least)
    if rank is not None and place < 0:
        place += rank - size + 1
    if dim >= 0:
        if place >= 0:
            dim = dim + size if place <= dim else dim
        elif old <= dim - 1 - place:
            dim = None
    elif place < 0:
        dim = dim - size if place >= dim else dim
    elif old < place - dim:
        dim = None
    return replace(shard, dim=dim, rank=rank, least=least)


def at(shard: Shard, dim: int | None, rank: int | None = None, least: int | None = None) -> Shard:
    """The shard with the batch at another place."""
    return changed(shard, dim=dim, rank=rank, least=shard.least if least is None else least)
