"""How shapes of shards change: views, transpositions, indices."""

from collections.abc import Sequence
from dataclasses import replace

from trainera.read.values import Const, Count, Items, Qualified, Shard, ShardShape, Sum, Value


def dimension(shape: ShardShape, index: Value) -> Value | None:
    """One entry of a shard's shape."""
    number = number_of(index)
    if number is None or shape.dim is None:
        return None
    number = absolute_dim(number, shape.rank)
    if number == -1 and shape.vague:
        return None
    if number == shape.dim:
        return Sum(shape.loaders) if shape.ragged else Count(shape.loaders)
    return Value() if number > shape.dim or number < 0 else None


def shape_of(shard: Shard) -> ShardShape:
    """The shape of a shard."""
    vague = shard.rank is None and shard.vague
    return ShardShape(
        shard.loaders, dim=shard.dim, ragged=shard.ragged, rank=shard.rank, vague=vague
    )


def number_of(value: Value | None) -> int | None:
    if (
        isinstance(value, Const)
        and isinstance(value.value, int)
        and not isinstance(value.value, bool)
    ):
        return value.value
    return None


def reshaped(shard: Shard, arguments: Sequence[Value]) -> Value | None:
    sizes = list(arguments)
    if len(sizes) == 1 and isinstance(sizes[0], Items):
        sizes = list(sizes[0].items)
    if len(sizes) == 1 and number_of(sizes[0]) == -1 and shard.dim != 0:
        return replace(shard, dim=None, nested=False, rank=1)
    if shard.dim != 0 or not sizes:
        return None
    first = sizes[0]
    if len(sizes) == 2 and number_of(first) == 1 and number_of(sizes[1]) == -1:
        return replace(shard, dim=1, nested=False, rank=2)
    if isinstance(first, Count) or number_of(first) == -1:
        return replace(shard, nested=False, rank=len(sizes))
    return None


def absolute_dim(dim: int, rank: int | None) -> int:
    return dim + rank if dim < 0 and rank is not None else dim


def moved(
    name: str, shard: Shard, arguments: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    if shard.dim is None:
        return None
    numbers = [number_of(value) for value in arguments]
    if len(arguments) == 1 and isinstance(arguments[0], Items):
        numbers = [number_of(value) for value in arguments[0].items]
    if keywords and name != "flatten":
        numbers = [number_of(value) for value in keywords.values()]
    if name == "flatten":
        start = number_of(keywords.get("start_dim")) if "start_dim" in keywords else 0
        start = numbers[0] if numbers else start
        return (
            replace(shard, nested=False, rank=1 if start == 0 else None) if shard.dim == 0 else None
        )
    if name == "t":
        return replace(shard, dim=1 - shard.dim, rank=2) if shard.dim in (0, 1) else None
    if name == "squeeze" and not arguments:
        return replace(shard, nested=False, rank=None, vague=True) if shard.dim == 0 else None
    if None in numbers or not numbers:
        return None
    dims = [absolute_dim(number, shard.rank) for number in numbers if number is not None]
    if name in ("transpose", "swapaxes"):
        if min(dims) < 0:  # counted from an end whose distance is not known: the batch is first
            return shard if shard.dim == 0 and 0 not in dims else None
        swap = {dims[0]: dims[1], dims[1]: dims[0]}
        return replace(shard, dim=swap.get(shard.dim, shard.dim))
    if name == "permute":
        return replace(shard, dim=dims.index(shard.dim)) if shard.dim in dims else None
    if name == "unsqueeze":
        up = 0 <= dims[0] <= shard.dim
        rank = None if shard.rank is None else shard.rank + 1
        return replace(shard, dim=shard.dim + up, rank=rank, nested=False)
    if dims[0] == shard.dim:
        return None
    dim = shard.dim - (0 <= dims[0] < shard.dim)
    return replace(shard, dim=dim, rank=None, nested=False, vague=True)


def index(
    shard: Shard, key: Value, key_is_slice: bool, tail: Sequence[tuple[Value, bool]]
) -> Value | None:
    """``shard[key]`` or ``shard[key, *tail]``; the flags say which keys are plain slices."""
    if isinstance(key, Const) and isinstance(key.value, str) and not key_is_slice:
        return replace(shard, nested=False)
    if shard.nested and not tail and number_of(key) is not None:
        return replace(shard, nested=False)
    if isinstance(key, Shard) and not tail:
        picks = key.mask and shard.dim == 0
        return replace(shard, ragged=True, nested=False) if picks else None
    if shard.dim == 1 and not tail and key_is_slice:
        return replace(shard, nested=False)
    if shard.dim != 0:
        return None
    if any(isinstance(part, Shard) for part, _ in tail):
        return None  # columns picked by the rows of the batch: every row meets every other
    if key_is_slice and isinstance(key, Const) and key.value == "all":
        constants = [part.value for part, _ in tail if isinstance(part, Const)]
        new = constants.count(None) + [part for part, _ in tail].count(Qualified("numpy.newaxis"))
        open_ended = Ellipsis in constants
        dropped = sum(not is_slice for _, is_slice in tail) - new - open_ended
        rank = None if shard.rank is None or open_ended else shard.rank + new - dropped
        vague = rank is None and (dropped > 0 or (shard.vague and len(tail) == open_ended))
        return replace(shard, nested=False, rank=rank, vague=vague)
    if isinstance(key, Const) and key.value is Ellipsis:
        return replace(shard, nested=False, rank=None)
    return None
