"""Dimensions that change places: where does the batch go?"""

from collections.abc import Sequence
from dataclasses import replace

from trainera.read.ops.layout import at, is_batch, named, side, touches, with_new, without
from trainera.read.ops.outcome import MIXED, UNKNOWN, Outcome, unless_mixed
from trainera.read.ops.reshaping import Rule, sharded
from trainera.read.ops.signature import Bound
from trainera.read.values import Answer, Shard


def _turn(shard: Shard, one: int | None, other: int | None) -> Outcome:
    """Two dimensions change places."""
    if one is None or other is None:
        return UNKNOWN
    shard = named(shard, (one, other))
    sides = side(shard, one), side(shard, other)
    if None in sides:
        # Of the last two dimensions, say, where there may be no others.
        return unless_mixed(shard) if 0 not in sides and shard.dim == 0 else UNKNOWN
    if sides == (0, 0) or 0 not in sides:
        return shard
    return at(shard, other if sides[0] == 0 else one, shard.rank, shard.least)


@sharded
def transpose(shard: Shard, call: Bound) -> Outcome:
    return _turn(shard, call.number("dim0"), call.number("dim1"))


@sharded
def permuted_or_reversed(shard: Shard, call: Bound) -> Outcome:
    """Numpy's transposition: all dimensions in an order that is named, or in reverse."""
    if "dims" in call.given:
        return _permuted(shard, call.numbers("dims"))
    return UNKNOWN if shard.dim is None else at(shard, -1 - shard.dim, shard.rank)


def turned(one: int, other: int) -> Rule:
    """Two dimensions that it does not let one choose change places."""
    return sharded(lambda shard, call: _turn(shard, one, other))


@sharded
def reversed_dims(shard: Shard, call: Bound) -> Outcome:
    """``x.T``: all dimensions in reverse."""
    return UNKNOWN if shard.dim is None else at(shard, -1 - shard.dim, shard.rank)


@sharded
def matrix_transpose(shard: Shard, call: Bound) -> Outcome:
    """``x.t()``, of at most two dimensions: of one it is as it was."""
    if shard.dim == 0:
        return at(shard, -1, 2 if shard.least == 2 else shard.rank, shard.least)
    return _turn(at(shard, shard.dim, 2), 0, 1) if shard.dim == 1 else UNKNOWN


@sharded
def permute(shard: Shard, call: Bound) -> Outcome:
    return _permuted(shard, call.numbers("dims"))


def _permuted(shard: Shard, dims: Sequence[int] | None) -> Outcome:
    if dims is None:
        return UNKNOWN
    shard = replace(shard, rank=len(dims))
    places = [dim % len(dims) for dim in dims]
    if shard.dim is None or shard.dim not in places:
        return UNKNOWN
    return at(shard, places.index(shard.dim), len(dims))


@sharded
def movedim(shard: Shard, call: Bound) -> Outcome:
    source, target = call.numbers("source"), call.numbers("destination")
    if not source or not target or len(source) != len(target):
        return UNKNOWN
    if shard.rank is not None:
        rank = shard.rank
        moved = {end % rank: start % rank for start, end in zip(source, target, strict=True)}
        stay = iter(place for place in range(rank) if place not in moved.values())
        return _permuted(shard, [moved[end] if end in moved else next(stay) for end in range(rank)])
    if len(source) > 1:
        return UNKNOWN
    where = side(shard, source[0])
    if where is None:
        return UNKNOWN
    if where == 0:
        return at(shard, target[0], shard.rank, shard.least)
    return with_new(without(shard, source), target[0])


@sharded
def rotated(shard: Shard, call: Bound) -> Outcome:
    """``rot90``: a quarter turn swaps two dimensions, of which one is read from its end."""
    turns, dims = call.number("k"), call.numbers("dims")
    if dims is None or len(dims) != 2:
        return UNKNOWN
    shard = replace(named(shard, dims), mask=False)
    match touches(shard, dims):
        case Answer.NO:
            return shard
        case Answer.MAYBE:
            return unless_mixed(shard)
    if turns is None or turns % 4 == 0:
        return UNKNOWN if turns is None else shard
    forward, other = dims if turns % 4 == 1 else dims[::-1]
    if turns % 4 == 2 or is_batch(shard, forward) is not Answer.YES:
        return MIXED
    return at(shard, other, shard.rank, shard.least)
