"""Products of matrices: one dimension of each operand is summed over and gone."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trainera.read.ops.elementwise import combine, has_rows, rank_of
from trainera.read.ops.layout import at, from_end, is_batch, without
from trainera.read.ops.outcome import MIXED, UNKNOWN, Outcome, unless_mixed
from trainera.read.ops.signature import Bound
from trainera.read.values import Answer, Const, Items, LibraryObject, Shard, Sum, Value


def matmul(call: Bound) -> Outcome:
    """``a @ b``: the last dimension of a, the one before the last of b."""
    left, right = list(call.values.values())[:2]
    return product(left, right)


def product(left: Value, right: Value) -> Outcome:
    """The product; None of its operands may be summed over the batch."""
    if isinstance(left, Shard) and isinstance(right, Shard):
        return _of_two(left, right)
    if isinstance(left, Shard):
        return _of_left(left, right)
    if isinstance(right, Shard):
        return _of_right(left, right)
    return UNKNOWN


def _of_left(shard: Shard, other: Value) -> Outcome:
    match is_batch(shard, -1):
        case Answer.YES:
            return MIXED
        case Answer.MAYBE if shard.dim is None or shard.dim != 0:
            return UNKNOWN
        # Where it may be the only dimension, the other operand fixes its size: no slice would fit.
    shard = replace(shard, nested=False, mask=False, least=max(shard.least, 2))
    end, known = from_end(shard), _rank(other)
    if known == 1:
        place = shard.dim if end is None else end + 1
        rank = None if shard.rank is None else shard.rank - 1
        return at(shard, place, rank, shard.least - 1)
    if known is not None and known > 2 and end != -2 and has_rows(other, known, shard):
        return UNKNOWN
    if known is None:  # a matrix or a vector; or of more dimensions, if the end is known
        return at(shard, shard.dim if (shard.dim or 0) >= 0 else None, None, shard.least - 1)
    if known <= shard.least:
        return shard
    return at(shard, end, None if shard.rank is None else max(known, shard.rank), known)


def _of_right(other: Value, shard: Shard) -> Outcome:
    end, known = from_end(shard), _rank(other)
    if shard.rank == 1 or end == -2:
        return MIXED
    if end is None or known is None:
        return UNKNOWN
    shard = replace(shard, nested=False, mask=False)
    if known == 1:  # a vector: the dimension before the last goes
        rank = None if shard.rank is None else shard.rank - 1
        return at(shard, end if end == -1 else end + 1, rank, shard.least - 1)
    return at(shard, end, None if shard.rank is None else max(known, shard.rank), None)


def _of_two(left: Shard, right: Shard) -> Outcome:
    if left.ragged != right.ragged or left.parts != right.parts:
        return UNKNOWN
    ends = from_end(left), from_end(right)
    both = replace(left, models=left.models | right.models, nested=False, mask=False)
    if None in ends:
        if left.dim == right.dim == 0 and min(left.least, right.least) >= 3:
            return both
        if not _may_fit(left, right):
            return MIXED
        return unless_mixed(both) if left.dim == right.dim == 0 else UNKNOWN
    if ends == (-1, -2) or (right.rank == 1 and ends == (-1, -1)):
        return Sum(left.loaders, models=both.models)  # over the rows of the batch
    if ends[0] != ends[1] or ends[0] == -1 or ends[0] == -2:
        return MIXED
    rank = None if None in (left.rank, right.rank) else max(left.rank or 0, right.rank or 0)
    return at(both, ends[0], rank, max(left.least, right.least))


def _may_fit(left: Shard, right: Shard) -> bool:
    """Whether rows stay apart, if the two have as many dimensions."""
    for rank in range(max(left.least, right.least), 6):
        one, other = (from_end(replace(shard, rank=rank)) for shard in (left, right))
        if one is None or other is None or one == other < -2:
            return True
    return False


def _rank(value: Value) -> int | None:
    """The dimensions of an operand that all workers have alike: weights are matrices."""
    if isinstance(value, Const):
        return 0
    return rank_of(value) if isinstance(value, LibraryObject) else None


def ranked(left_rank: int, right_rank: int) -> Callable[[Bound], Outcome]:
    """``mm``, ``bmm``, ``mv``, ``dot``: a product of operands of so many dimensions."""

    def rule(call: Bound) -> Outcome:
        operands = list(call.values.values())[:2]
        told = [
            replace(value, rank=rank) if isinstance(value, Shard) else value
            for value, rank in zip(operands, (left_rank, right_rank), strict=True)
        ]
        if isinstance(told[0], Shard) and isinstance(told[1], Shard):
            return _of_two(told[0], told[1])
        shard, place = (told[0], 0) if isinstance(told[0], Shard) else (told[1], 1)
        if not isinstance(shard, Shard) or shard.dim is None:
            return UNKNOWN
        end = from_end(shard)
        if end == (-1 if place == 0 or right_rank == 1 else -2):
            return MIXED
        shard = replace(shard, nested=False, mask=False)
        gone = (left_rank == 1) + (right_rank == 1)
        rank = max(left_rank, right_rank) - gone
        if end is not None and place == 0 and right_rank == 1:
            end += 1
        return at(shard, end, rank)

    return rule


def linear(call: Bound) -> Outcome:
    """A layer's weights fix the size of the last dimension, so that no slice of it would fit."""
    shard = call.input
    if not isinstance(shard, Shard) or len(call.shards) > 1:
        return UNKNOWN
    if is_batch(shard, -1) is Answer.YES:
        return MIXED
    if shard.dim != 0 and is_batch(shard, -1) is Answer.MAYBE:
        return UNKNOWN
    return replace(shard, nested=False, mask=False, least=max(2, shard.least))


def einsum(call: Bound) -> Outcome:
    """The batch has to be one and the same letter in all operands, and in the result."""
    equation, operands = call["equation"], _listed(call["operands"])
    if not isinstance(equation, Const) or not isinstance(equation.value, str):
        return UNKNOWN
    inputs, arrow, output = equation.value.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if "..." in inputs or len(terms) != len(operands):
        return UNKNOWN
    if not arrow:
        letters = "".join(terms)
        output = "".join(sorted(one for one in set(letters) if letters.count(one) == 1))
    batch: set[str] = set()
    for term, operand in zip(terms, operands, strict=True):
        if isinstance(operand, Shard):
            told = replace(operand, rank=len(term))
            if told.dim is None or not 0 <= told.dim < len(term):
                return UNKNOWN
            batch.add(term[told.dim])
    without = any(
        batch & set(term) and not isinstance(operand, Shard)
        for term, operand in zip(terms, operands, strict=True)
    )
    shards = [operand for operand in operands if isinstance(operand, Shard)]
    if len(batch) != 1 or without or len({(one.ragged, one.parts) for one in shards}) > 1:
        return MIXED
    [letter] = batch
    models = frozenset().union(*(one.models for one in shards))
    if any(term.count(letter) > 1 for term in terms):
        return MIXED
    if letter not in output:
        return Sum(shards[0].loaders, models=models)
    bare = replace(shards[0], models=models, nested=False, mask=False)
    return at(bare, output.index(letter), len(output))


def _listed(value: Value) -> Sequence[Value]:
    if isinstance(value, Items) and len(value.items) == 1 and isinstance(value.items[0], Items):
        return value.items[0].items
    return value.items if isinstance(value, Items) else (value,)


def dot(call: Bound) -> Outcome:
    """The product of two vectors: over the batch it is a sum."""
    left, right = list(call.values.values())[:2]
    if not isinstance(left, Shard) or not isinstance(right, Shard):
        return UNKNOWN
    vectors = call.name == "dot" or (left.rank == 1 and right.rank == 1)
    if not vectors or left.ragged != right.ragged or left.parts != right.parts:
        return UNKNOWN
    return Sum(left.loaders)


def bilinear(call: Bound) -> Outcome:
    """Row by row; weights fix the size of the last dimension of both."""
    one, other = call["input1"], call["input2"]
    if not isinstance(one, Shard) or not isinstance(other, Shard) or len(call.shards) > 2:
        return UNKNOWN
    shard = combine([one, other])
    if not isinstance(shard, Shard) or shard.dim != 0:
        return UNKNOWN
    return MIXED if is_batch(shard, -1) is Answer.YES else replace(shard, nested=False, mask=False)


def array_dot(call: Bound) -> Outcome:
    """Numpy's: of vectors and matrices a product; of more dimensions something else."""
    left, right = list(call.values.values())[:2]
    if isinstance(left, Shard) and isinstance(right, Shard):
        return product(left, right) if max(left.rank or 3, right.rank or 3) < 3 else UNKNOWN
    return UNKNOWN


def distances(call: Bound) -> Outcome:
    """``cdist(a, b)``: each row of a with each of b, as in the product of a and b transposed."""
    one, other = call["x1"], call["x2"]
    if isinstance(other, Shard):
        end = from_end(other)
        if end is None:
            return UNKNOWN
        other = at(other, {-1: -2, -2: -1}.get(end, end), other.rank, other.least)
    result = product(one, other)
    return MIXED if isinstance(result, Sum) else result


def added(left: str, right: str, rule: Callable[[Bound], Outcome]) -> Callable[[Bound], Outcome]:
    """``addmm`` and its like: something, and a product."""

    def both(call: Bound) -> Outcome:
        made = rule(Bound("product", {"left": call[left], "right": call[right]}))
        if not isinstance(made, Shard):
            return UNKNOWN if isinstance(made, Sum) else made
        shards = [call.input] if isinstance(call.input, Shard) else []
        return combine([made, *shards], [call.input])

    return both


def summed(call: Bound) -> Outcome:
    """The products of a row of matrices, added up."""
    made = ranked(3, 3)(call)
    if not isinstance(made, Shard):
        return made
    return without(made, [0]) if is_batch(made, 0) is Answer.NO else UNKNOWN


def outer(call: Bound) -> Outcome:
    """Each entry of a vector with each of another one."""
    left, right = list(call.values.values())[:2]
    if isinstance(left, Shard) and isinstance(right, Shard):
        return MIXED
    shard, place = (left, 0) if isinstance(left, Shard) else (right, 1)
    if not isinstance(shard, Shard) or shard.dim not in (0, -1):
        return UNKNOWN
    return at(replace(shard, nested=False, mask=False), place, 2)


def kron(call: Bound) -> Outcome:
    """A block for each entry of the first, whose rows become as many more; aligned at the end."""
    shard, other = list(call.values.values())[:2]
    if isinstance(other, Shard):
        return MIXED
    end, known = (from_end(shard), _rank(other)) if isinstance(shard, Shard) else (None, None)
    if not isinstance(shard, Shard) or end is None:
        return UNKNOWN
    rank = None if shard.rank is None or known is None else max(shard.rank, known)
    return at(replace(shard, nested=False, mask=False), end, rank)
