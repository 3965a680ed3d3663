"""The algebra of shares: what an operation on a worker's slice gives.

Every function answers None where the result cannot be told; the caller then asks for the whole
batch's value instead (or, inside a network's own forward, assumes that rows stay apart).
"""

from collections.abc import Sequence
from dataclasses import replace

from trainera.read.ops import tables
from trainera.read.ops.shapes import absolute_dim, dimension, moved, number_of, reshaped, shape_of
from trainera.read.values import (
    Blend,
    Const,
    Count,
    Gathered,
    Items,
    Many,
    Mean,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Sum,
    Value,
    compatibility,
)
from trainera.read.values.join import is_zero

SCALING = {"mul": "Mult", "div": "Div", "add": "Add", "sub": "Sub"}


def without_gradient(value: Share) -> Share:
    """The value once it has left the graph."""
    return replace(value, models=frozenset())


def with_models(value: Value, *others: Value) -> Value:
    """The value, remembering the networks that the others were computed with."""
    if not isinstance(value, Share):
        return value
    models = value.models.union(
        *(each.models for each in others if isinstance(each, Share | Gathered))
    )
    return replace(value, models=models)


def binary(operator: str, left: Value, right: Value) -> Value | None:
    """``left operator right`` where at least one side is a share."""
    lost = compatibility.mixed(left, right)
    if lost or compatibility.meets_rows(left, right):
        return lost
    result = _binary(operator, left, right)
    return with_models(result, left, right) if result is not None else None


def _binary(operator: str, left: Value, right: Value) -> Value | None:
    if isinstance(left, PerWorker) or isinstance(right, PerWorker):
        return None  # each worker's own: only the whole may meet it
    if isinstance(left, Shard) or isinstance(right, Shard):
        return _binary_shard(operator, left, right)
    if isinstance(left, ShardShape) or isinstance(right, ShardShape):
        return None
    if not isinstance(right, Share):
        assert isinstance(left, Share)
        return _with_plain(operator, left, right)
    if not isinstance(left, Share):
        if operator in ("Add", "Mult") or (operator == "Sub" and isinstance(right, Mean)):
            return _with_plain(operator, right, left)
        if operator == "Sub" and is_zero(left):
            return Sum(right.loaders)
        return None
    return _both_scalars(operator, left, right)


def _with_plain(operator: str, share: Share, plain: Value) -> Value | None:
    if operator in ("Mult", "Div"):
        return Sum(share.loaders) if isinstance(share, Count) else share
    if operator in ("Add", "Sub"):
        # The mean of x + c is the mean of x, plus c; a sum would take c once for every worker.
        return share if isinstance(share, Mean) or is_zero(plain) else None
    return None


def _both_scalars(operator: str, left: Share, right: Share) -> Value | None:
    loaders = left.loaders
    if operator in ("Add", "Sub"):
        if isinstance(left, Mean) and isinstance(right, Mean):
            return Mean(loaders)
        if isinstance(left, Sum | Count) and isinstance(right, Sum | Count):
            return Sum(loaders)
    if operator == "Mult" and {type(left), type(right)} == {Mean, Count}:
        return Sum(loaders)
    if operator == "Div" and isinstance(left, Sum) and isinstance(right, Count):
        return Mean(loaders)
    return None


def _binary_shard(operator: str, left: Value, right: Value) -> Value | None:
    shards = [value for value in (left, right) if isinstance(value, Shard)]
    if any(isinstance(value, Share) and not isinstance(value, Shard) for value in (left, right)):
        return None  # a row combined with a figure of the slice: rows no longer stay apart
    if operator == "MatMult":
        rows = left if isinstance(left, Shard) and not isinstance(right, Share) else None
        return _as_mask(rows, False)
    result = combine(shards)
    masks = operator.startswith("Bit") and all(shard.mask for shard in shards)
    return _as_mask(result, masks)


def combine(shards: Sequence[Shard]) -> Shard | None:
    """Several shards combined row by row."""
    first = shards[0]
    dims = {shard.dim for shard in shards}
    ragged = {shard.ragged for shard in shards}
    if len(dims) > 1 or len(ragged) > 1 or len({shard.parts for shard in shards}) > 1:
        return None
    ranks = [shard.rank for shard in shards]
    if first.dim == 0 and len({rank for rank in ranks if rank is not None}) > 1:
        return None  # [n, 1] with [n]: every row would meet every other
    rank = None if None in ranks else max(rank for rank in ranks if rank is not None)
    models = frozenset().union(*(shard.models for shard in shards))
    nested = any(shard.nested for shard in shards)
    # A batch's own tensor of which nothing is known is taken to be shaped as what it meets.
    vague = all(shard.vague for shard in shards) or any(s.vague and s.models for s in shards)
    return replace(first, rank=rank, models=models, nested=nested, vague=vague)


def method(
    name: str, share: Share, arguments: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    """``share.name(…)``, or a function of that name with the share as its first argument."""
    others = [value for value in (*arguments, *keywords.values()) if isinstance(value, Share)]
    lost = compatibility.mixed(share, *arguments, *keywords.values())
    if lost or compatibility.meets_rows(share, *arguments, *keywords.values()):
        return lost
    if keywords.get("generator", Const(None)) != Const(None):
        return None  # all workers have it in the same state: it draws for the whole batch
    if isinstance(share, Shard):
        still = share.mask and name in tables.STILL_MASKS
        result = _as_mask(
            _shard_method(name, share, arguments, keywords), name in tables.MASKS or still
        )
    elif isinstance(share, Mean | Sum | Blend) and name in ("int", "long", "short", "byte"):
        result = None  # cut off for each slice, the rest would be lost
    elif isinstance(share, Mean | Sum | Count | Blend) and name in tables.LINEAR:
        result = share
    elif isinstance(share, Mean | Sum | Count) and name.rstrip("_") in SCALING and arguments:
        result = _binary(SCALING[name.rstrip("_")], share, arguments[0])
    else:
        result = None
    if result is None:
        return None
    if name in tables.ENDS_GRADIENT and isinstance(result, Share):
        return without_gradient(result)
    if isinstance(result, Items):
        return Items(tuple(with_models(item, share, *others) for item in result.items))
    return with_models(result, share, *others)


def _as_mask(value: Value | None, mask: bool) -> Value | None:
    if isinstance(value, Shard):
        return value if value.mask is mask else replace(value, mask=mask)
    if isinstance(value, Items):
        return Items(tuple(_as_mask(item, mask) or item for item in value.items))
    return value


def _shard_method(
    name: str, shard: Shard, arguments: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    if name in ("view", "reshape"):
        return reshaped(shard, arguments)
    if name == "chunk" and shard.parts > 1 and shard.dim == 0 and not shard.ragged:
        count, along = [*arguments, keywords.get("chunks"), keywords.get("dim")][:2]
        if number_of(count) == shard.parts and number_of(along) in (None, 0):
            return Items((replace(shard, parts=1),) * shard.parts)
        return None
    if name == "one_hot" and not (arguments or keywords):
        return None  # as wide as the largest label of the slice
    if name == "where" and not (arguments or keywords):
        return None
    if name in tables.ELEMENTWISE:
        others = [k for k in (*arguments, *keywords.values()) if isinstance(k, Share)]
        if any(not isinstance(value, Shard) for value in others):
            return None
        rowwise = combine([shard, *(value for value in others if isinstance(value, Shard))])
        wider = rowwise is not None and name in ("one_hot", "embedding")
        return replace(rowwise, rank=None) if rowwise is not None and wider else rowwise
    if name in ("max", "min", "maximum", "minimum") and arguments:
        if isinstance(arguments[0], Shard):
            return combine([shard, arguments[0]])
    if name in tables.ALONG:
        given = [value for value in (*arguments, *keywords.values()) if isinstance(value, Shard)]
        rows = combine([shard, *given])  # cosine_similarity and its like have two
        return _along(name, rows, arguments, keywords) if rows is not None else None
    if name in tables.COUNTING:
        return Sum(shard.loaders) if shard.ragged else Count(shard.loaders)
    if name == "size":
        if not arguments:
            return shape_of(shard)
        return dimension(shape_of(shard), arguments[0])
    if name == "masked_select":
        return replace(shard, ragged=True, nested=False, rank=1)
    if name in ("dim", "ndimension", "is_floating_point", "element_size"):
        return Value()
    if name in ("transpose", "swapaxes", "permute", "t", "unsqueeze", "squeeze", "flatten"):
        return moved(name, shard, arguments, keywords)
    if name == "bmm" and isinstance(arguments[0], Shard):
        return combine([shard, arguments[0]])
    if name == "matmul" and not isinstance(arguments[0], Share):
        return shard
    if name in ("scatter", "scatter_") and shard.dim == 0 and len(arguments) > 1:
        if number_of(arguments[0]) not in (None, 0) and isinstance(arguments[1], Shard):
            return shard
    if name in ("gather", "take_along_dim") and shard.dim == 0:
        index = keywords.get("index") or (arguments[1] if len(arguments) > 1 else None)
        along = keywords.get("dim") or (arguments[0] if arguments else None)
        if isinstance(index, Shard) and number_of(along) not in (None, 0):
            return replace(shard, nested=False)
    if name in ("expand_as", "view_as", "reshape_as"):
        return shard if arguments and isinstance(arguments[0], Shard) else None
    if name == "items" and shard.nested:
        return Many(Items((Value(), shard)))
    if name in ("values", "keys") and shard.nested:
        return Many(shard if name == "values" else Value())
    if name == "get" and shard.nested:
        return shard
    return None


def dims_of(
    name: str, arguments: Sequence[Value], keywords: dict[str, Value]
) -> "list[int] | str | None":
    """Along which dimensions an operation works: numbers, ``all``, or None if not known."""
    _, _, position, default = tables.ALONG[name]
    given = keywords.get("dim") or keywords.get("axis") or keywords.get("dims")
    if given is None and len(arguments) > position:
        given = arguments[position]
    if isinstance(given, Const) and given.value is None:
        given = None
    return _dims(given, default)


def touches(shard: Shard, dims: Sequence[int]) -> bool:
    """Whether the batch lies along one of these dimensions, or may do so."""
    numbers = {absolute_dim(dim, shard.rank) for dim in dims}
    return shard.dim in numbers or (shard.vague and min(numbers) < 0)


def _along(
    name: str, shard: Shard, arguments: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    pair, keeps, _, _ = tables.ALONG[name]
    dims = dims_of(name, arguments, keywords)
    if shard.rank == 1 and dims in ([0], [-1]) and not keeps:
        dims = "all"
    loaders = shard.loaders
    if dims == "all":
        if name in ("sum", "nansum"):
            return Sum(loaders)
        if name == "count_nonzero":
            return Sum(loaders)
        if name == "mean" and not shard.ragged:
            return Mean(loaders)
        return None
    if dims is None or isinstance(dims, str) or shard.dim is None:
        return None
    numbers = {absolute_dim(dim, shard.rank) for dim in dims}
    if shard.vague and min(numbers) < 0 and name != "gumbel_softmax":
        return None  # that one is drawn row by row, and of rows alone makes no sense
    if shard.dim in numbers:
        if name in ("sum", "nansum", "count_nonzero"):
            return Sum(loaders)
        if name == "mean" and not shard.ragged:
            return Mean(loaders)
        return None
    kept = keeps or "keepdim" in keywords or "keepdims" in keywords
    before = 0 if kept else sum(0 <= number < shard.dim for number in numbers)
    rank = shard.rank if kept or shard.rank is None else shard.rank - len(numbers)
    vague = shard.vague or (rank is None and not kept)
    result = replace(shard, dim=shard.dim - before, rank=rank, nested=False, vague=vague)
    return Items((result, result)) if pair else result


def reduced(
    name: str,
    made: Value,
    arguments: Sequence[Value],
    keywords: dict[str, Value],
    *,
    rows_first: bool = False,
) -> Value:
    """What is left of the whole batch's rows after they were summed up, averaged or the like.

    Unless `rows_first`, the rows may stand anywhere, as after a product of the batch with itself.
    """
    if not isinstance(made, Gathered) or name not in tables.ALONG or tables.ALONG[name][1]:
        return made
    dims = dims_of(name, arguments, keywords)
    over_rows = dims == "all" or (rows_first and isinstance(dims, list) and 0 in dims)
    return replace(made, rows=False) if over_rows else made


def _dims(given: Value | None, default: int | None) -> "list[int] | str | None":
    if given is None:
        return "all" if default is None else [default]
    if isinstance(given, Items):
        numbers = [number_of(item) for item in given.items]
        return None if None in numbers else [number for number in numbers if number is not None]
    number = number_of(given)
    return None if number is None else [number]
