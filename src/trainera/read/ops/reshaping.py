"""Tensors in another shape, or cut into several: where does the batch go?"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trainera.read.ops.layout import (
    at,
    from_end,
    is_batch,
    named,
    side,
    touches,
    with_new,
    without,
)
from trainera.read.ops.outcome import MIXED, UNKNOWN, Outcome
from trainera.read.ops.signature import ALL, Bound, number_of
from trainera.read.values import PLAIN, Answer, Count, Items, Many, Shard, Share, Value

Rule = Callable[[Bound], Outcome]


def sharded(rule: Callable[[Shard, Bound], Outcome]) -> Rule:
    """A rule for operations on one shard, with arguments that are none."""

    def checked(call: Bound) -> Outcome:
        shard = call.input
        if not isinstance(shard, Shard) or len(call.shards) > 1:
            return UNKNOWN
        result = rule(shard, call)
        return replace(result, nested=False) if isinstance(result, Shard) else result

    return checked


def _sizes(value: Value) -> list[Value]:
    if isinstance(value, Items) and len(value.items) == 1 and isinstance(value.items[0], Items):
        value = value.items[0]
    return list(value.items) if isinstance(value, Items) else [value]


@sharded
def view(shard: Shard, call: Bound) -> Outcome:
    """``x.view(x.size(0), -1)``: rows that come first stay in one piece, whatever they become."""
    sizes = _sizes(call["shape"])
    numbers = [number_of(size) for size in sizes]
    if len(sizes) == 1 and numbers == [-1] and shard.dim != 0:
        return at(shard, None, 1)
    if shard.dim != 0 or not sizes:
        return UNKNOWN
    ones = next((place for place, number in enumerate(numbers) if number != 1), len(sizes))
    if ones < len(sizes) and (isinstance(sizes[ones], Count) or numbers[ones] == -1):
        return at(shard, ones, len(sizes))
    return UNKNOWN


@sharded
def flatten_all(shard: Shard, call: Bound) -> Outcome:
    """All dimensions become one; rows that come first stay in one piece."""
    return at(shard, 0, 1) if shard.dim == 0 else UNKNOWN


@sharded
def flatten(shard: Shard, call: Bound) -> Outcome:
    """Dimensions become one; the batch has to be the first of them, if it is among them."""
    start, end = call.number("start_dim"), call.number("end_dim")
    if start is None or end is None or shard.dim is None:
        return UNKNOWN
    shard = named(shard, (start, end))
    assert shard.dim is not None
    first, last = side(shard, start), side(shard, end)
    if first is None or last is None:
        return UNKNOWN
    rank = start + 1 if start >= 0 and end == -1 else None
    if shard.rank is not None:
        begin, stop = (one + shard.rank if one < 0 else one for one in (start, end))
        rank = shard.rank - (stop - begin)
    least = max(shard.dim + 1 if shard.dim >= 0 else 1, 1)
    if first < 0 <= last:
        return UNKNOWN  # rows would lie apart in what comes out
    if first < 0:  # all before the batch
        return at(shard, from_end(shard), rank, least) if from_end(shard) else UNKNOWN
    if shard.dim < 0 and shard.rank is None:
        return at(shard, None, rank, least)
    return at(shard, shard.dim, rank, least + (first > 0))


@sharded
def unflatten(shard: Shard, call: Bound) -> Outcome:
    dim = call.number("dim")
    if dim is None or is_batch(shard, dim) is not Answer.NO:
        return UNKNOWN
    more = len(_sizes(call["sizes"])) - 1
    before = side(shard, dim) == -1
    rank = None if shard.rank is None else shard.rank + more
    place = shard.dim
    if place is not None:
        place += more if before and place >= 0 else -more if not before and place < 0 else 0
    return at(shard, place, rank, shard.least + more)


@sharded
def squeeze(shard: Shard, call: Bound) -> Outcome:
    """Whether a dimension goes hangs on its size."""
    dims = call.dims()
    if dims == ALL:
        return at(shard, 0 if shard.dim == 0 else None, None, 1)
    if dims is None or isinstance(dims, str):
        return UNKNOWN
    sides = {side(shard, dim) for dim in dims}
    if 0 in sides:
        return UNKNOWN  # of a batch of one, the row is meant
    least = max(shard.least - len(dims), 1)
    if shard.dim == 0 or (sides <= {1} and (shard.dim or 0) > 0):
        return at(shard, shard.dim, None, least)  # the batch itself has more rows than one
    return at(shard, from_end(shard) if sides <= {-1} else None, None, least)


@sharded
def unsqueeze(shard: Shard, call: Bound) -> Outcome:
    places = call.numbers("dim")
    return with_new(shard, places[0]) if places and len(places) == 1 else UNKNOWN


def to_rows(sizes: Sequence[Value]) -> Outcome:
    """A tensor that all workers have alike, once for each row of a slice."""
    counts = [(place, size) for place, size in enumerate(sizes) if isinstance(size, Count)]
    if len(counts) != 1 or any(isinstance(size, Share) for size in sizes if size != counts[0][1]):
        return UNKNOWN
    place, count = counts[0]
    return Shard(count.loaders, dim=place, rank=len(sizes))


def expand(call: Bound) -> Outcome:
    """Dimensions of size 1 are stretched, and new ones put in front."""
    if not isinstance(call.input, Shard):
        return to_rows(_sizes(call["sizes"]))
    return _expanded(call)


@sharded
def _expanded(shard: Shard, call: Bound) -> Outcome:
    """The batch keeps its size."""
    sizes = _sizes(call["sizes"])
    counts = [place for place, size in enumerate(sizes) if isinstance(size, Count)]
    if len(counts) == 1 and (shard.rank is None or from_end(shard) == counts[0] - len(sizes)):
        return at(shard, counts[0], len(sizes))
    end = from_end(shard)
    if counts or end is None or -end > len(sizes) or number_of(sizes[end]) != -1:
        if not counts and shard.dim == 0 and sizes and number_of(sizes[0]) == -1:
            return at(shard, 0, len(sizes))  # none can be new in front of that
        return UNKNOWN
    return at(shard, end, len(sizes))


def repeat(call: Bound) -> Outcome:
    """Copies side by side along each dimension."""
    if not isinstance(call.input, Shard):
        return to_rows(_sizes(call["sizes"]))
    return _repeated(call)


@sharded
def _repeated(shard: Shard, call: Bound) -> Outcome:
    """Of the batch only one."""
    sizes = _sizes(call["sizes"])
    end = from_end(shard) if shard.least != len(sizes) else (shard.dim or 0) - len(sizes)
    if shard.dim is None or end is None:
        return UNKNOWN
    rank = max(len(sizes), shard.least)
    if -end > len(sizes):
        return at(shard, end, rank)  # only `tile` may be given fewer than there are dimensions
    return at(shard, end, rank) if number_of(sizes[end]) == 1 else UNKNOWN


@sharded
def repeat_interleave(shard: Shard, call: Bound) -> Outcome:
    """Each row several times in a row: as many more for each sample, if it is a number."""
    dims, number = call.dims(), number_of(call["repeats"])
    if dims == ALL:
        return at(shard, 0, 1) if shard.dim == 0 and number is not None else UNKNOWN
    if dims is None or isinstance(dims, str) or isinstance(call["repeats"], Share):
        return UNKNOWN
    match touches(shard, dims):
        case Answer.NO:
            return shard
        case Answer.YES if number is not None:
            return shard
    return UNKNOWN


@sharded
def select(shard: Shard, call: Bound) -> Outcome:
    """One entry of a dimension, which goes."""
    dim = call.number("dim")
    if dim is None or is_batch(shard, dim) is not Answer.NO:
        return UNKNOWN
    return without(shard, [dim])


def pieces(parameter: str = "dim") -> Rule:
    """Several tensors, cut along a dimension."""

    def rule(shard: Shard, call: Bound) -> Outcome:
        return _pieces(shard, call.number(parameter))

    return sharded(rule)


def pieces_along(dim: int) -> Rule:
    """The same along a dimension that it does not let one choose; the only one, if there is one."""

    def rule(shard: Shard, call: Bound) -> Outcome:
        return _pieces(shard, dim) if shard.least > dim else UNKNOWN

    return sharded(rule)


def _pieces(shard: Shard, dim: int | None) -> Outcome:
    if dim is None or is_batch(shard, dim) is not Answer.NO:
        return UNKNOWN
    return Many(replace(shard, nested=False))


@sharded
def chunk(shard: Shard, call: Bound) -> Outcome:
    """Of two views one after the other, the views."""
    if shard.parts > 1 and shard.dim == 0 and not shard.ragged and call.number("dim") == 0:
        apart = replace(shard, parts=1)
        return Items((apart,) * shard.parts) if call.number("chunks") == shard.parts else UNKNOWN
    return _pieces(shard, call.number("dim"))


@sharded
def unbind(shard: Shard, call: Bound) -> Outcome:
    dim = call.number("dim")
    if dim is None or is_batch(shard, dim) is not Answer.NO:
        return UNKNOWN
    return Many(without(replace(shard, nested=False), [dim]))


@sharded
def unfold(shard: Shard, call: Bound) -> Outcome:
    """Windows along a dimension, each of which is a new last dimension."""
    dim = call.number("dimension")
    if dim is None or is_batch(shard, dim) is not Answer.NO:
        return UNKNOWN
    return with_new(shard, -1)


@sharded
def diagonal(shard: Shard, call: Bound) -> Outcome:
    """Two dimensions become one, which is the last."""
    one, other = call.number("dim1"), call.number("dim2")
    if one is None or other is None:
        return UNKNOWN
    match touches(shard, [one, other]):
        case Answer.YES:
            return MIXED
        case Answer.MAYBE:
            return UNKNOWN
    return with_new(without(shard, [one, other]), -1)


@sharded
def diag_embed(shard: Shard, call: Bound) -> Outcome:
    """The last dimension becomes two."""
    one, other = call.number("dim1"), call.number("dim2")
    if one is None or other is None:
        return UNKNOWN
    match is_batch(shard, -1):
        case Answer.YES:
            return MIXED
        case Answer.MAYBE:
            return UNKNOWN
    if (one, other) == (-2, -1):
        return with_new(shard, -1)
    if shard.rank is None or shard.dim is None:
        return UNKNOWN
    rank = shard.rank + 1
    left = [place for place in range(rank) if place not in (one % rank, other % rank)]
    return at(shard, left[shard.dim], rank)


def like(call: Bound) -> Outcome:
    """``x.view_as(y)``: laid out as the other one."""
    shard, other = call.input, call["other"]
    if not isinstance(shard, Shard) or not isinstance(other, Shard) or shard.parts != other.parts:
        return UNKNOWN
    if shard.dim != 0 or other.dim != 0 or shard.ragged != other.ragged:
        return UNKNOWN
    return replace(shard, rank=other.rank, least=other.least, nested=False)


def expanded_like(call: Bound) -> Outcome:
    """``x.expand_as(y)``: stretched as the other one, aligned at their ends."""
    shard, other = call.input, call["other"]
    if isinstance(shard, Shard) and isinstance(other, Shard):
        ends = from_end(shard), from_end(other)
        if None not in ends and ends[0] != ends[1]:
            return MIXED
        if None not in ends and (shard.ragged, shard.parts) == (other.ragged, other.parts):
            return at(replace(shard, nested=False), ends[1], other.rank, other.least)
    return like(call)


def at_least(rank: int) -> Rule:
    """``atleast_2d`` and its like."""
    return sharded(lambda shard, call: lifted(shard, rank) or UNKNOWN)


def lifted(shard: Shard, rank: int) -> Shard | None:
    """The shard with dimensions put in where it has too few; None: that is not known.

    To make three of them, torch puts the third behind the others, and the first in front.
    """
    if shard.least >= rank:
        return shard
    if shard.rank is None or shard.dim is None:
        return None
    return at(shard, shard.dim + (shard.rank == 1), rank)


@sharded
def split_last(shard: Shard, call: Bound) -> Outcome:
    """A complex number becomes two in a new last dimension."""
    return with_new(shard, -1)


@sharded
def join_last(shard: Shard, call: Bound) -> Outcome:
    """Two numbers in the last dimension become a complex one."""
    return without(shard, [-1]) if is_batch(shard, -1) is Answer.NO else UNKNOWN


def nothing_known(call: Bound) -> Outcome:
    """Of which the whole batch has to be given."""
    return UNKNOWN


def mixes(call: Bound) -> Outcome:
    """Rows meet other rows, whatever the arguments."""
    return MIXED


def replicated(call: Bound) -> Outcome:
    """The same on every worker: a type, a device, the number of dimensions."""
    return PLAIN


def made_new(call: Bound) -> Outcome:
    """``x.new_zeros(n, 3)``: of the type of x, and of the size that is named."""
    sizes = _sizes(call["size"])
    if isinstance(sizes[0] if sizes else None, Count) and isinstance(call.input, Shard):
        return Shard(call.input.loaders, rank=len(sizes))
    return PLAIN if not any(isinstance(size, Share) for size in sizes) else UNKNOWN
