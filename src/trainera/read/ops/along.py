"""Along a dimension, which stays: softmax, cumulative sums, sorting, turning around."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trainera.read.ops.elementwise import combine
from trainera.read.ops.layout import named, touches
from trainera.read.ops.outcome import MIXED, UNKNOWN, Mixed, Outcome, made_of, unless_mixed
from trainera.read.ops.reductions import several
from trainera.read.ops.signature import ALL, Bound
from trainera.read.values import Answer, Const, Items, Shard


def along(parameter: str = "dim", *, gives: int = 1) -> Callable[[Bound], Outcome]:
    """Works along the dimensions that a parameter names; all, if it names none."""

    def rule(call: Bound) -> Outcome:
        shard = combine(call.shards, call.values.values())
        if not isinstance(shard, Shard):
            return shard
        return several(kept(shard, call.dims(parameter)), gives)

    return rule


def kept(shard: Shard, dims: Sequence[int] | str | None) -> Outcome:
    """The shard, if none of the dimensions is the batch."""
    if dims == ALL:
        return MIXED
    if dims is None or isinstance(dims, str):
        return UNKNOWN
    shard = named(shard, dims)
    match touches(shard, dims):
        case Answer.YES:
            return MIXED
        case Answer.MAYBE:
            return unless_mixed(replace(shard, nested=False, mask=False))
    return replace(shard, nested=False, mask=False)


def fixed(*dims: int, gives: int = 1) -> Callable[[Bound], Outcome]:
    """Works along dimensions that it does not let one choose."""

    def rule(call: Bound) -> Outcome:
        shard = combine(call.shards, call.values.values())
        return several(kept(shard, dims), gives) if isinstance(shard, Shard) else shard

    return rule


def of_one_tensor(parameter: str = "dim") -> Callable[[Bound], Outcome]:
    """Works along a dimension of one tensor; what else it is given must be no share."""

    def rule(call: Bound) -> Outcome:
        shard = call.input
        if not isinstance(shard, Shard) or len(call.shards) > 1:
            return UNKNOWN
        return kept(shard, call.dims(parameter))

    return rule


def transformed(call: Bound) -> Outcome:
    """``fftn``: of as many of the last dimensions as sizes are named, if no others are."""
    sizes = call["s"]
    if call.dims() == ALL and isinstance(sizes, Items):
        return along()(replace(call, values={**call.values, "dim": _last(len(sizes.items))}))
    return along()(call)


def _last(count: int) -> Items:
    return Items(tuple(Const(place) for place in range(-count, 0)))


def sloped(call: Bound) -> Outcome:
    """``gradient``: one tensor for each of the dimensions."""
    shard, dims = call.input, call.dims()
    if not isinstance(shard, Shard) or len(call.shards) > 1 or dims is None:
        return UNKNOWN
    return made_of(kept(shard, dims), lambda one: Items((one,) * len(dims)))


def or_second(parameter: str = "dim") -> Callable[[Bound], Outcome]:
    """The same; without a dimension old scripts mean the second, or the first of one or three."""

    def rule(call: Bound) -> Outcome:
        shard = call.input
        if not isinstance(shard, Shard) or len(call.shards) > 1:
            return UNKNOWN
        return unnamed(shard) if call.dims(parameter) == ALL else kept(shard, call.dims(parameter))

    return rule


def unnamed(shard: Shard) -> Outcome:
    """Along the dimension that torch takes if none is named."""
    if shard.rank is not None:
        return kept(shard, [0 if shard.rank in (1, 3) else 1])
    return unless_mixed(replace(shard, nested=False, mask=False)) if shard.dim == 0 else UNKNOWN


def drawn(call: Bound) -> Outcome:
    """A choice that is drawn for every row: along the rows themselves it makes no sense."""
    outcome = along()(call)
    likely = outcome.likely if isinstance(outcome, Mixed) else None
    return outcome if likely is None else likely
