"""Operations that give every dimension a meaning: convolutions, pooling, recurrent layers.

A layout is a word, one letter a dimension: ``n``: rows stay apart along it; ``x``: they are
combined; ``p``: they are combined, too, but weights fix its size, so that a slice of it would not
fit and nothing goes wrong in silence. A star at either end stands for any number of dimensions of
the letter behind or before it. Some operations take several layouts and tell them by the rank.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from trainera.read.ops.along import kept
from trainera.read.ops.elementwise import combine, rank_of
from trainera.read.ops.layout import at, from_end
from trainera.read.ops.outcome import MIXED, UNKNOWN, Outcome, made_of, unless_mixed
from trainera.read.ops.reductions import several
from trainera.read.ops.signature import Bound
from trainera.read.values import Const, Items, LibraryObject, Shard, Share, Value
from trainera.read.values.base import changed

LONGEST = 8
"""Dimensions that a tensor is taken to have at the most."""


def words(layouts: Sequence[str], rank: int) -> list[str]:
    """The layouts written out for a tensor of so many dimensions."""
    found = []
    for layout in layouts:
        if layout.startswith("*"):
            rest = layout[2:]
            if rank >= len(rest):
                found.append(layout[1] * (rank - len(rest)) + rest)
        elif layout.endswith("*"):
            rest = layout[:-2]
            if rank >= len(rest):
                found.append(rest + layout[-2] * (rank - len(rest)))
        elif len(layout) == rank:
            found.append(layout)
    return found


def placed(shard: Shard, layouts: Sequence[str]) -> Outcome:
    """The shard, with the rank that the layout tells, if the batch lies where rows stay apart."""
    if shard.dim is None:
        return UNKNOWN
    ranks = [shard.rank] if shard.rank is not None else range(shard.least, LONGEST + 1)
    letters: dict[int, set[str]] = {}
    for rank in ranks:
        place = shard.dim if shard.dim >= 0 else shard.dim + rank
        found = {word[place] for word in words(layouts, rank) if 0 <= place < rank}
        if found:
            letters[rank] = found
    meant = {letter for found in letters.values() for letter in found}
    if meant and meant <= {"x", "p"}:
        return MIXED
    fitting = [rank for rank, found in letters.items() if "n" in found]
    if not fitting:
        return UNKNOWN
    only = fitting[0] if len(fitting) == 1 else None
    result = at(changed(shard, nested=False, mask=False), shard.dim, only, fitting[0])
    return unless_mixed(result) if "x" in meant else result


def block(*layouts: str, change: int = 0) -> Callable[[Bound], Outcome]:
    """Gives as many dimensions as it is given, or `change` more behind the batch."""

    def rule(call: Bound) -> Outcome:
        shard = call.input
        if not isinstance(shard, Shard) or len(call.shards) > 1:
            return UNKNOWN
        return shifted(placed(shard, layouts), change)

    return rule


def shifted(result: Outcome, change: int) -> Outcome:
    """The shard with so many dimensions more, or fewer, at its end."""
    return made_of(result, lambda one: _shifted(one, change))


def _shifted(result: Value, change: int) -> Value:
    if not isinstance(result, Shard) or not change:
        return result
    rank = None if result.rank is None else result.rank + change
    dim = result.dim if result.dim is None or result.dim >= 0 else result.dim - change
    return at(result, dim, rank, result.least + change)


def pooled(*layouts: str) -> Callable[[Bound], Outcome]:
    """Perhaps with the places of what it found."""

    def rule(call: Bound) -> Outcome:
        places = call.flag("return_indices")
        return UNKNOWN if places is None else several(block(*layouts)(call), 1 + places)

    return rule


def unpooled(*layouts: str) -> Callable[[Bound], Outcome]:
    """Put back to the places that were found, which are counted in each row by itself."""

    def rule(call: Bound) -> Outcome:
        if not isinstance(call.input, Shard) or not isinstance(call["indices"], Shard):
            return UNKNOWN
        rows = combine([call.input, call["indices"]])
        return placed(rows, layouts) if isinstance(rows, Shard) else rows

    return rule


def adaptive(space: int) -> Callable[[Bound], Outcome]:
    """Pooled to a size, perhaps with the places of what it found; None: a dimension stays."""

    def rule(call: Bound) -> Outcome:
        shard, sizes = call.input, call["output_size"]
        places = call.flag("return_indices") if "return_indices" in call.values else False
        if not isinstance(shard, Shard) or len(call.shards) > 1 or places is None:
            return UNKNOWN
        wanted = sizes.items if isinstance(sizes, Items) else (sizes,) * space
        stays = Const(None) if not places else None  # places are counted over all dimensions
        letters = "".join("n" if size == stays else "x" for size in wanted)
        if len(letters) != space:
            return UNKNOWN
        return several(placed(shard, (f"nn{letters}", f"n{letters}")), 1 + places)

    return rule


def frames(call: Bound) -> Outcome:
    """``stft``: each row in overlapping windows; a complex number is one, or two."""
    whole = call.flag("return_complex")
    if whole is None:
        return UNKNOWN
    return block("nx", "x", change=1 if whole else 2)(call)


def padded(call: Bound) -> Outcome:
    """Two numbers for each dimension that grows, from the last one on."""
    shard, sides = call.input, call.numbers("pad")
    if not isinstance(shard, Shard) or sides is None or len(sides) % 2:
        return UNKNOWN
    grown = [-1 - place // 2 for place, size in enumerate(sides) if size]
    return kept(shard, grown) if grown else shard


def sampled(call: Bound) -> Outcome:
    """Each row of an image by its own grid."""
    image, grid = call.input, call["grid"]
    if not isinstance(image, Shard) or not isinstance(grid, Shard):
        return UNKNOWN
    if image.dim != 0 or grid.dim != 0 or (image.ragged, image.parts) != (grid.ragged, grid.parts):
        return UNKNOWN
    return replace(placed_or_self(image), models=image.models | grid.models)


def placed_or_self(shard: Shard) -> Shard:
    """A batch of images or volumes."""
    result = placed(shard, ["nnxx", "nnxxx"])
    return result if isinstance(result, Shard) else shard


def normalized(call: Bound) -> Outcome:
    """Over the last dimensions, whose sizes it names: the batch must not be one of them."""
    shard, sizes = call.input, call["normalized_shape"]
    if not isinstance(shard, Shard) or len(call.shards) > 1:
        return UNKNOWN
    items = sizes.items if isinstance(sizes, Items) else (sizes,)
    if any(isinstance(size, Share) for size in items):
        return MIXED
    return placed(shard, ["*n" + "p" * len(items)])


def batch_norm(call: Bound) -> Outcome:
    """Row by row by figures that are given, unless it takes them from the batch."""
    return block("npn*")(call) if call.flag("training") is False else MIXED


def slope(call: Bound) -> Outcome:
    """``prelu``: one for all entries, or one for each channel."""
    weight = call["weight"]
    single = isinstance(weight, LibraryObject) and rank_of(weight) == 0
    return block("n*")(call) if single else block("n", "npn*")(call)


def instance_norm(call: Bound) -> Outcome:
    """Each row and channel by itself, unless it remembers what it has seen."""
    if {"running_mean", "running_var"} & call.given:
        return UNKNOWN
    return block("nnx*")(call)


def attention(call: Bound) -> Outcome:
    """Positions look at each other within a row; or rows at what all workers have alike."""
    query, key, value, mask = (call[name] for name in ("query", "key", "value", "attn_mask"))
    if not isinstance(query, Shard):
        return UNKNOWN
    rows = combine(call.shards)
    if not isinstance(rows, Shard):
        return rows
    if isinstance(key, Shard) and isinstance(value, Shard):
        return placed(rows, ["*nxx"])
    plain = not isinstance(key, Shard) and not isinstance(value, Shard)
    free = isinstance(mask, Const) and mask.value is None and call.flag("is_causal") is False
    return placed(rows, ["*nnx"]) if plain and free else UNKNOWN


def bag(call: Bound) -> Outcome:
    """Rows of words, of which each becomes one vector."""
    if "offsets" in call.given:
        return UNKNOWN
    shards = call.shards
    rows = combine(shards) if isinstance(call.input, Shard) else UNKNOWN
    return placed(rows, ["nx"]) if isinstance(rows, Shard) else rows


def matrices(*parts: str) -> Callable[[Bound], Outcome]:
    """Of a matrix for each row several things: a matrix, a vector or a number (``m v s``)."""

    def rule(call: Bound) -> Outcome:
        shard = call.input
        if not isinstance(shard, Shard) or len(call.shards) > 1:
            return UNKNOWN
        result = placed(shard, ["*nxx"])
        if not isinstance(result, Shard):
            return result
        made = tuple(shifted(result, -"mvs".index(part)) for part in parts)
        values = tuple(one for one in made if isinstance(one, Shard))
        return Items(values) if len(values) > 1 else values[0]

    return rule


def solved(system: str, given: str) -> Callable[[Bound], Outcome]:
    """Systems of equations: one for each row, or the same for each column of what is given."""

    def rule(call: Bound) -> Outcome:
        one, other = call[system], call[given]
        if not isinstance(other, Shard):
            return UNKNOWN
        if isinstance(one, Shard):
            rows = combine([one, other])
            same = isinstance(rows, Shard) and one.rank is not None and one.rank == other.rank
            return placed(rows, ["*nxx"]) if isinstance(rows, Shard) and same else UNKNOWN
        left = call.flag("left") if "left" in call.values else True
        alike = isinstance(one, LibraryObject) and rank_of(one) == other.rank
        if left is None or not alike or other.rank == 1 or (from_end(other) or -3) < -2:
            return UNKNOWN
        return placed(other, ["*xxn" if left else "*xnx"])

    return rule
