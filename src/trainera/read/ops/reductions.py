"""What is left of a tensor when dimensions are summed up, averaged or the like.

Over dimensions other than the batch it is done row by row. Over the batch, sums and means of slices
add up to those of the whole; the largest, a norm or a median do not.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trainera.read.ops.elementwise import combine, rank_of
from trainera.read.ops.layout import at, named, side, touches, with_new, without
from trainera.read.ops.outcome import (
    FIGURE,
    MIXED,
    REDUCED,
    UNKNOWN,
    Outcome,
    made_of,
    unless_mixed,
)
from trainera.read.ops.signature import ALL, Bound
from trainera.read.values import Answer, Const, Count, Items, LibraryObject, Mean, Shard, Sum, Value

Over = Callable[[Shard], Value | None]


def sums(shard: Shard) -> Value | None:
    """A sum over the slice."""
    return Sum(shard.loaders, models=shard.models)


def averages(shard: Shard) -> Value | None:
    """A mean over the slice; of rows picked by a condition it would be over another number."""
    return None if shard.ragged else Mean(shard.loaders, models=shard.models)


def not_combinable(shard: Shard) -> Value | None:
    """A figure that cannot be told from those of the slices."""
    return None


def reduction(over: Over = not_combinable, *, gives: int = 1) -> Callable[[Bound], Outcome]:
    """A reduction; `over` says what it gives over rows, `gives` how many tensors."""

    def rule(call: Bound) -> Outcome:
        shard = combine(call.shards)
        if not isinstance(shard, Shard) or not isinstance(call.input, Shard):
            return UNKNOWN
        result = reduced(shard, call.dims(), call.flag("keepdim"), over)
        return several(result, gives)

    return rule


def reduced(
    shard: Shard, dims: Sequence[int] | str | None, keep: bool | None, over: Over = not_combinable
) -> Outcome:
    """The shard without these dimensions, or with one entry in each."""
    if dims == ALL or (shard.rank == 1 and not isinstance(dims, str) and dims in ([0], [-1])):
        everything = over(shard)
        return FIGURE if everything is None else everything
    if dims is None or isinstance(dims, str) or not dims:
        return UNKNOWN
    shard = named(shard, dims)
    match touches(shard, dims):
        case Answer.MAYBE:
            front = shard.dim if shard.dim is not None and shard.dim >= 0 else None
            left = at(replace(shard, nested=False, mask=False), front, None, 1)
            return unless_mixed(left)
        case Answer.YES:
            result = over(shard)
            return REDUCED if result is None else result
    bare = replace(shard, nested=False, mask=False)
    if keep:
        return bare
    if keep is None:  # whether the dimensions go is not known
        behind = all(side(shard, dim) == 1 for dim in dims)
        front = shard.dim is not None and shard.dim >= 0 and behind
        return at(bare, shard.dim if front else None, None, shard.least - len(dims))
    return without(bare, list(dims))


def several(result: Outcome, count: int) -> Outcome:
    """The same for each tensor that an operation gives, such as values and their places."""
    return result if count == 1 else made_of(result, lambda one: Items((one,) * count))


def extreme(call: Bound) -> Outcome:
    """``max(x)``, ``max(x, dim)`` with the places, or ``max(x, y)`` entry by entry."""
    other = call["dim"]
    if isinstance(other, Shard | LibraryObject):
        return combine(call.shards, (call.input, other))
    shard = call.input
    if not isinstance(shard, Shard):
        return UNKNOWN
    dims = call.dims()
    result = reduced(shard, dims, call.flag("keepdim"))
    return result if dims == ALL or shard.array else several(result, 2)


def counted(call: Bound) -> Outcome:
    """How many entries there are: in proportion to the samples."""
    shard = call.input
    if not isinstance(shard, Shard):
        return UNKNOWN
    return Sum(shard.loaders) if shard.ragged else Count(shard.loaders)


def between(call: Bound) -> Outcome:
    """A distance or similarity of two tensors along a dimension of what they make together."""
    shard = combine(call.shards, call.values.values())
    if not isinstance(shard, Shard):
        return shard
    keep = call.flag("keepdim") if "keepdim" in call.values else False
    dims = call.dims() if "dim" in call.values else [-1]
    return reduced(shard, dims, keep)


def without_flag(over: Over) -> Callable[[Bound], Outcome]:
    """A reduction whose dimensions always go."""

    def rule(call: Bound) -> Outcome:
        shard = call.input
        return reduced(shard, call.dims(), False, over) if isinstance(shard, Shard) else UNKNOWN

    return rule


def spread(*, gives: int = 1) -> Callable[[Bound], Outcome]:
    """Variances, whose first argument may be the old switch ``unbiased``."""

    def rule(call: Bound) -> Outcome:
        shard, dim = combine(call.shards), call["dim"]
        if not isinstance(shard, Shard) or not isinstance(call.input, Shard):
            return UNKNOWN
        switch = isinstance(dim, Const) and isinstance(dim.value, bool)
        dims = ALL if switch else call.dims()
        return several(reduced(shard, dims, call.flag("keepdim")), gives)

    return rule


def quantile(call: Bound) -> Outcome:
    """Of several quantiles at once there is a new dimension in front."""
    shard, wanted = call.input, call["q"]
    listed = isinstance(wanted, Items)
    places = rank_of(wanted) if isinstance(wanted, LibraryObject) else int(listed)
    known = isinstance(wanted, Const | Items | LibraryObject)
    if not isinstance(shard, Shard) or not known or len(call.shards) > 1 or places not in (0, 1):
        return UNKNOWN
    result = reduced(shard, call.dims(), call.flag("keepdim"))
    return with_new(result, 0) if places and isinstance(result, Shard) else result


def integral(call: Bound) -> Outcome:
    """The dimension goes, and what is given as places lies along it."""
    shard = combine(call.shards, call.values.values())
    return reduced(shard, call.dims(), False) if isinstance(shard, Shard) else shard


def every_entry(call: Bound) -> Outcome:
    """``renorm``: each entry of a dimension by itself, so that has to be the batch."""
    shard, dim = call.input, call.number("dim")
    if not isinstance(shard, Shard) or dim is None:
        return UNKNOWN
    match touches(shard, [dim]):
        case Answer.YES:
            return replace(shard, nested=False)
        case Answer.NO:
            return MIXED
    return UNKNOWN


def one_figure(call: Bound) -> Outcome:
    """One figure of all entries."""
    return FIGURE
