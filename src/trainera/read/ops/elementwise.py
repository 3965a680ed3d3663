"""Entry by entry: a row of the result depends on that row of the operands only.

Tensors of unequal shape are stretched to fit, aligned at their ends. So the batch has to lie at the
same distance from the end in all of them: [n, 1] and [n] give [n, n], where every row meets every
other.
"""

import ast
from collections.abc import Iterable, Sequence
from dataclasses import replace

from trainera.read.ops.layout import at, from_end, is_batch
from trainera.read.ops.outcome import MIXED, UNKNOWN, Mixed, Outcome
from trainera.read.ops.signature import Bound
from trainera.read.values import Answer, Const, Gathered, LibraryObject, Shard, Value
from trainera.read.values.base import changed

SIZED = {"zeros", "ones", "full", "rand", "randn", "empty", "randint"}
FLAT = {"arange", "linspace", "logspace", "randperm", "hann_window", "hamming_window"}


def elementwise(call: Bound) -> Outcome:
    """Any number of operands, in any place."""
    return combine(call.shards, call.values.values())


def combine(shards: Sequence[Shard], operands: Iterable[Value] = ()) -> Shard | Mixed:
    """Several shards row by row, with what else is stretched along with them."""
    first = shards[0]
    if len({shard.ragged for shard in shards}) > 1 or len({shard.parts for shard in shards}) > 1:
        return UNKNOWN
    ranks = [shard.rank for shard in shards]
    rank = None if None in ranks else max(one for one in ranks if one is not None)
    result = changed(
        first,
        rank=rank,
        least=max(one.least for one in shards),
        models=frozenset().union(*(shard.models for shard in shards)),
        nested=any(shard.nested for shard in shards),
        array=all(shard.array for shard in shards),
        mask=False,
        listed=Answer.NO,
    )
    ends = {from_end(shard) for shard in shards}
    fronts = {shard.dim for shard in shards}
    if None not in ends:
        if len(ends) > 1:
            return MIXED
        [end] = ends
        result = at(result, end, rank, result.least)
    elif len(fronts) > 1 or None in fronts:
        if len(shards) > 1:
            return UNKNOWN
    elif any(shard.array for shard in shards) and len({shard.least for shard in shards}) > 1:
        return UNKNOWN  # workers follow tensors as they run, but not arrays: [n, 1] may meet [n]
    return _stretched(result, operands)


def _stretched(shard: Shard, operands: Iterable[Value]) -> Shard | Mixed:
    """The shard after it met tensors that all workers have alike, perhaps of more dimensions.

    One that has a row for each sample of a full batch fits no slice, unless that has one row.
    """
    for operand in operands:
        if isinstance(operand, Shard | Gathered):
            continue
        rank = rank_of(operand)
        if rank and has_rows(operand, rank, shard):
            return UNKNOWN
        if rank is not None and rank <= shard.least:
            continue
        end = from_end(shard)
        if rank is None:  # where neither is known, it is taken to have no more dimensions
            shard = at(shard, shard.dim if end is None else end, None, shard.least)
        elif end is None:
            shard = at(shard, None, None, shard.least)
        else:
            shard = at(shard, end, max(rank, shard.rank or rank))
    return shard


def rank_of(value: Value) -> int | None:
    """How many dimensions a tensor has that is no share, as far as it is seen where it is made.

    What is not known to be a tensor of some library is taken for a number, a weight or a bias.
    """
    if not isinstance(value, LibraryObject) or not value.name.startswith(("torch.", "numpy.")):
        return 0
    made, name = value.origin, value.name.rsplit(".", 1)[-1]
    if not isinstance(made, ast.Call) or any(isinstance(one, ast.Starred) for one in made.args):
        return None
    if name in FLAT:
        return 1
    if name == "eye":
        return 2
    if name in ("tensor", "array", "as_tensor", "asarray") and made.args:
        return _depth(made.args[0])
    sizes = made.args[-1:] if name == "randint" else made.args[: 1 if name == "full" else None]
    if name not in SIZED or not sizes:
        return None
    if len(sizes) > 1:
        return len(sizes)
    if isinstance(sizes[0], ast.Tuple | ast.List):
        return len(sizes[0].elts)
    return 1 if isinstance(sizes[0], ast.Constant) else None


def has_rows(value: Value, rank: int, shard: Shard) -> bool:
    """Whether a tensor may have more than one row where the batch lies, if it reaches that far."""
    end = from_end(shard)
    if end is None and shard.dim is not None:
        end = shard.dim - shard.least
    if end is None or -end > rank:
        return end is None
    made = value.origin if isinstance(value, LibraryObject) else None
    if not isinstance(made, ast.Call) or not made.args:
        return True
    size: ast.expr | None = None
    if isinstance(made.args[0], ast.List):  # written out
        inner: ast.expr = made.args[0]
        for _ in range(rank + end):
            inner = inner.elts[0] if isinstance(inner, ast.List) else inner
        return not (isinstance(inner, ast.List) and len(inner.elts) == 1)
    sizes = made.args[0].elts if isinstance(made.args[0], ast.Tuple) else made.args
    size = sizes[end] if -end <= len(sizes) else None
    return not (isinstance(size, ast.Constant) and size.value == 1)


def _depth(node: ast.expr) -> int | None:
    """How deep lists are nested that are written out."""
    if isinstance(node, ast.Constant | ast.UnaryOp):
        return 0
    if not isinstance(node, ast.List | ast.Tuple) or not node.elts:
        return None
    inner = _depth(node.elts[0])
    return None if inner is None else inner + 1


def wider(call: Bound) -> Outcome:
    """Entry by entry, and each entry becomes a row of its own: `embedding`, `one_hot`."""
    result = elementwise(call)
    if not isinstance(result, Shard):
        return result
    place = from_end(result)
    rank = None if result.rank is None else result.rank + 1
    dim = result.dim if place is None else place - 1
    return at(result, dim, rank, result.least + 1)


def one_hot(call: Bound) -> Outcome:
    """Without a number of classes it is as wide as the largest label of the slice."""
    classes = call["num_classes"]
    guessed = isinstance(classes, Const) and classes.value == -1
    return UNKNOWN if guessed else wider(call)


def powers(call: Bound) -> Outcome:
    """``vander``: without a number there are as many powers as entries in the last dimension."""
    named = isinstance(call["N"], Const) and call["N"].value is not None
    shard = call.input
    apart = isinstance(shard, Shard) and is_batch(shard, -1) is Answer.NO
    return wider(call) if named or apart else UNKNOWN


def alike(call: Bound) -> Outcome:
    """A tensor of the same shape as the first operand."""
    shard = call.input
    return replace(shard, models=frozenset()) if isinstance(shard, Shard) else UNKNOWN


def chosen(call: Bound) -> Outcome:
    """``where(condition, one, other)``; without the two it gives places, as many as there are."""
    if "input" not in call.given:
        return UNKNOWN
    return elementwise(call)


def moved(call: Bound) -> Outcome:
    """The same values elsewhere, or of another type; what else is given only names that."""
    shard = call.input
    if not isinstance(shard, Shard):
        return UNKNOWN
    arrays = {"numpy": True, "from_numpy": False, "as_tensor": False, "tensor": False}
    return replace(shard, array=arrays.get(call.name, shard.array))


def first_only(call: Bound) -> Outcome:
    """Drawn or dropped entry by entry."""
    shard = call.input
    return shard if isinstance(shard, Shard) and len(call.shards) == 1 else UNKNOWN


def as_array(call: Bound) -> Outcome:
    """The same values in an array of numpy's."""
    shard = call.input
    return replace(shard, array=True) if isinstance(shard, Shard) else UNKNOWN
