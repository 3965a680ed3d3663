"""The algebra of shares: what an operation on a slice gives, and what it cannot give."""

import ast
from dataclasses import replace

import pytest

from trainera.read.libraries.torch.tensor import method as operation_of
from trainera.read.ops import figures, indexing, joining
from trainera.read.ops.elementwise import combine as combined_rows
from trainera.read.ops.indexing import Key
from trainera.read.values import (
    PLAIN,
    Const,
    Count,
    Gathered,
    Items,
    Lost,
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
from trainera.read.values.join import join

NODE, OTHER = ast.Pass(), ast.Pass()
L, M = frozenset({NODE}), frozenset({OTHER})
MEAN, SUM, COUNT, SHARD = Mean(L), Sum(L), Count(L), Shard(L, least=2)
RAGGED, ACROSS = Shard(L, ragged=True), Shard(L, dim=1)
ZERO, ONE, TEXT = Const(0), Const(1), Const("a")


def known(outcome: object) -> Value | None:
    """The value that comes out; None if rows do not stay apart, or nothing can be told."""
    return outcome if isinstance(outcome, Value) else None


def binary(operator: str, left: Value, right: Value) -> Value | None:
    return known(figures.binary(operator, left, right))


def method(
    name: str, share: Share, arguments: list[Value], keywords: dict[str, Value]
) -> Value | None:
    values = [share, *arguments, *keywords.values()]
    lost = compatibility.mixed(*values)
    if lost or compatibility.meets_rows(*values):
        return lost
    if name == "size" and isinstance(share, Shard):
        shape = indexing.shape_of(share)
        return indexing.size(shape, arguments[0]) if arguments else shape
    if not isinstance(share, Shard):
        return figures.method(name, share, arguments)
    operation = operation_of(name)
    return None if operation is None else known(operation.apply([share, *arguments], keywords))


def joined(items: list[Value], dim: int, *, all_known: bool) -> Value | None:
    return known(joining.joined(Items(tuple(items)) if all_known else Many(items[0]), dim))


def index(shard: Shard, key: Value, is_slice: bool, tail: list[tuple[Value, bool]]) -> Value | None:
    keys = [Key(key, is_slice), *(Key(value, colon) for value, colon in tail)]
    return known(indexing.index(shard, keys))


def combine(shards: list[Shard]) -> Value | None:
    return known(combined_rows(shards))


def outline(kind: Value | None) -> tuple[object, ...]:
    """What a kind is and, of a shard, how it is cut; not all that is known of its dimensions."""
    if isinstance(kind, Shard):
        return (Shard, kind.dim, kind.ragged, kind.loaders)
    return (type(kind), getattr(kind, "dim", None), getattr(kind, "loaders", None))


def label(value: object) -> str:
    """A name for a case that is the same in every run."""
    if isinstance(value, list | tuple):
        return ",".join(map(label, value)) or "nothing"
    if isinstance(value, Const):
        return str(value.value)
    if isinstance(value, Shard):
        marks = [name for name in ("ragged", "nested") if getattr(value, name)]
        return "-".join([f"Shard{value.dim}", *marks])
    return type(value).__name__ if isinstance(value, Value) else str(value)


@pytest.mark.parametrize(
    ("left", "operator", "right", "result"),
    [
        # Scaling is linear.
        (MEAN, "Mult", PLAIN, MEAN),
        (PLAIN, "Mult", MEAN, MEAN),
        (MEAN, "Div", PLAIN, MEAN),
        (SUM, "Mult", ONE, SUM),
        (SUM, "Div", PLAIN, SUM),
        (COUNT, "Mult", PLAIN, Count(L, scaled=True)),
        (COUNT, "Div", PLAIN, SUM),
        # A constant is added once to a mean, but once for every worker to a sum.
        (MEAN, "Add", ONE, MEAN),
        (ONE, "Sub", MEAN, MEAN),
        (MEAN, "Sub", PLAIN, MEAN),
        (SUM, "Add", ZERO, SUM),
        (ZERO, "Add", SUM, SUM),
        (ZERO, "Sub", SUM, SUM),
        # Means and sums among themselves.
        (MEAN, "Add", MEAN, MEAN),
        (MEAN, "Sub", MEAN, MEAN),
        (SUM, "Add", SUM, SUM),
        (SUM, "Sub", COUNT, SUM),
        (COUNT, "Add", COUNT, SUM),
        (MEAN, "Mult", COUNT, SUM),
        (COUNT, "Mult", MEAN, SUM),
        (SUM, "Div", COUNT, MEAN),
        # Row by row.
        (SHARD, "Add", SHARD, SHARD),
        (SHARD, "Mult", PLAIN, SHARD),
        (PLAIN, "Sub", SHARD, SHARD),
        (SHARD, "Pow", Const(2), SHARD),
        (SHARD, "BitAnd", SHARD, SHARD),
        (SHARD, "MatMult", PLAIN, Shard(L)),
        (RAGGED, "Sub", RAGGED, RAGGED),
    ],
    ids=label,
)
def test_operators(left: Value, operator: str, right: Value, result: Value) -> None:
    assert binary(operator, left, right) == result


@pytest.mark.parametrize(
    ("left", "operator", "right"),
    [
        (SUM, "Add", ONE),
        (ONE, "Add", SUM),
        (SUM, "Sub", PLAIN),
        (ONE, "Sub", SUM),
        (COUNT, "Add", ONE),
        (COUNT, "Sub", ONE),
        (MEAN, "Mult", MEAN),
        (MEAN, "Div", MEAN),
        (MEAN, "Add", SUM),
        (MEAN, "Sub", COUNT),
        (MEAN, "Mult", SUM),
        (MEAN, "Div", COUNT),
        (SUM, "Mult", COUNT),
        (SUM, "Mult", SUM),
        (SUM, "Div", SUM),
        (COUNT, "Mult", COUNT),
        (COUNT, "Div", COUNT),
        (COUNT, "Div", SUM),
        (ONE, "Div", MEAN),
        (ONE, "Div", SUM),
        (PLAIN, "Div", COUNT),
        (MEAN, "Pow", Const(2)),
        (MEAN, "Mod", PLAIN),
        (MEAN, "FloorDiv", PLAIN),
        (SUM, "FloorDiv", Const(2)),
        (COUNT, "FloorDiv", Const(2)),
        (COUNT, "Mod", Const(2)),
        (Const(2), "Pow", MEAN),
        (TEXT, "Mod", MEAN),
        (MEAN, "RShift", ONE),
        # A row with a figure of the slice: rows no longer stay apart.
        (SHARD, "Sub", MEAN),
        (SHARD, "Div", SUM),
        (SHARD, "Mult", COUNT),
        (COUNT, "Mult", SHARD),
        # Rows with other rows.
        (SHARD, "MatMult", ACROSS),
        (ACROSS, "MatMult", SHARD),
        (PLAIN, "MatMult", SHARD),
        (SHARD, "Add", ACROSS),
        (SHARD, "Mult", RAGGED),
        (ShardShape(L), "Add", PLAIN),
    ],
    ids=label,
)
def test_operators_without_an_answer(left: Value, operator: str, right: Value) -> None:
    assert binary(operator, left, right) is None


@pytest.mark.parametrize(
    "own", [PerWorker("this worker's random numbers"), PerWorker("the clock")], ids=label
)
@pytest.mark.parametrize("share", [MEAN, SUM, SHARD], ids=label)
def test_each_workers_own_value_spoils_a_share(share: Share, own: PerWorker) -> None:
    """Scaled by a number that differs from worker to worker, a mean is no mean of the batch."""
    result = binary("Mult", share, own)
    assert result is None or isinstance(result, Lost)


@pytest.mark.parametrize("operator", ["Add", "Mult", "Div", "MatMult"])
@pytest.mark.parametrize("share", [MEAN, SUM, COUNT, SHARD], ids=label)
def test_what_is_lost_stays_lost(operator: str, share: Share) -> None:
    lost = Lost(L, "why")
    assert binary(operator, lost, share) == lost
    assert binary(operator, share, lost) == lost
    assert method("sum", lost, [], {}) == lost


@pytest.mark.parametrize(("left", "right"), [(Mean(L), Mean(M)), (Shard(L), Shard(M))], ids=label)
def test_batches_of_two_loaders_do_not_mix(left: Value, right: Value) -> None:
    result = binary("Add", left, right)
    assert isinstance(result, Lost)
    assert "two loaders" in result.why
    assert result.loaders == L | M


def test_a_slice_does_not_fit_the_whole_batch() -> None:
    """No answer: so both are made whole."""
    assert binary("Mult", SHARD, Gathered(L)) is None
    assert method("add", SHARD, [Gathered(L)], {}) is None
    assert binary("Mult", SHARD, Gathered(L, rows=False)) == SHARD


def test_slices_one_after_the_other() -> None:
    both = joined([SHARD, SHARD], 0, all_known=True)
    assert both == replace(SHARD, parts=2)
    assert method("chunk", both, [Const(2)], {}) == Items((SHARD, SHARD))
    assert method("chunk", both, [Const(4)], {}) is None
    assert isinstance(method("chunk", both, [Const(2), Const(1)], {}), Many)
    assert method("mean", both, [], {}) == Mean(L)
    assert binary("Add", both, both) == both
    assert binary("Add", both, SHARD) is None
    assert joined([both, both], 0, all_known=True) is None
    assert joined([SHARD], 0, all_known=False) is None
    assert joined([SHARD, PLAIN], 0, all_known=True) is None
    assert isinstance(join(both, SHARD), Lost)


def test_networks_are_remembered() -> None:
    through = frozenset({(NODE, True)})
    for result in (
        binary("Sub", Shard(L, models=through), SHARD),
        binary("Mult", PLAIN, Mean(L, models=through)),
        binary("Add", MEAN, Mean(L, models=through)),
        method("mean", Shard(L, models=through), [], {}),
        method("mul", SHARD, [Shard(L, models=through)], {}),
    ):
        assert isinstance(result, Share)
        assert result.models == through


@pytest.mark.parametrize(
    ("name", "share", "arguments", "result"),
    [
        ("sum", SHARD, [], SUM),
        ("mean", SHARD, [], MEAN),
        ("sum", SHARD, [ZERO], SUM),
        ("mean", SHARD, [ZERO], MEAN),
        ("mean", SHARD, [Items((ZERO, ONE))], MEAN),
        ("sum", RAGGED, [], SUM),
        ("numel", SHARD, [], COUNT),
        ("numel", RAGGED, [], SUM),
        ("size", SHARD, [ZERO], COUNT),
        ("size", SHARD, [ONE], PLAIN),
        ("size", SHARD, [], ShardShape(L)),
        ("count_nonzero", SHARD, [], SUM),
        ("sum", ACROSS, [ONE], SUM),
        ("item", MEAN, [], MEAN),
        ("item", SUM, [], SUM),
        ("mul", MEAN, [PLAIN], MEAN),
        ("div", SUM, [COUNT], MEAN),
        ("add", MEAN, [ONE], MEAN),
        ("detach", SHARD, [], SHARD),
        ("eq", SHARD, [SHARD], SHARD),
        ("float", SHARD, [], SHARD),
        ("t", SHARD, [], ACROSS),
        ("t", ACROSS, [], SHARD),
        ("transpose", SHARD, [ONE, Const(2)], SHARD),
        ("transpose", SHARD, [ZERO, ONE], ACROSS),
        ("permute", SHARD, [ONE, ZERO, Const(2)], ACROSS),
        ("unsqueeze", SHARD, [ZERO], ACROSS),
        ("unsqueeze", SHARD, [ONE], SHARD),
        ("softmax", SHARD, [ONE], SHARD),
        ("argmax", SHARD, [ONE], SHARD),
        ("cumsum", SHARD, [ONE], SHARD),
        ("dim", SHARD, [], PLAIN),
    ],
    ids=label,
)
def test_methods(name: str, share: Share, arguments: list[Value], result: Value) -> None:
    assert outline(method(name, share, arguments, {})) == outline(result)


def test_keywords_say_along_which_dimension() -> None:
    assert method("mean", SHARD, [], {"dim": ZERO}) == MEAN
    assert method("sum", SHARD, [], {"axis": ZERO}) == SUM
    assert isinstance(method("mean", SHARD, [], {"dim": ONE}), Shard)
    assert method("softmax", SHARD, [], {"dim": ZERO}) is None


def test_a_pair_of_values_and_places() -> None:
    result = method("max", SHARD, [ONE], {})
    assert isinstance(result, Items)
    assert [type(item) for item in result.items] == [Shard, Shard]


@pytest.mark.parametrize(
    ("name", "share", "arguments"),
    [
        ("max", SHARD, []),
        ("max", SHARD, [ZERO]),
        ("min", SHARD, []),
        ("argmax", SHARD, []),
        ("argmax", SHARD, [ZERO]),
        ("std", SHARD, []),
        ("var", SHARD, [ZERO]),
        ("norm", SHARD, []),
        ("prod", SHARD, []),
        ("median", SHARD, []),
        ("all", SHARD, []),
        ("any", SHARD, []),
        ("softmax", SHARD, [ZERO]),
        ("softmax", SHARD, []),
        ("logsumexp", SHARD, [ZERO]),
        ("cumsum", SHARD, [ZERO]),
        ("flip", SHARD, [ZERO]),
        ("sort", SHARD, [ZERO]),
        ("roll", SHARD, [ONE]),
        ("mean", RAGGED, []),
        ("mean", RAGGED, [ZERO]),
        ("sqrt", MEAN, []),
        ("abs", SUM, []),
        ("clamp", MEAN, []),
        ("exp", MEAN, []),
        ("pow", MEAN, [Const(2)]),
        ("add", SUM, [ONE]),
        ("add", SHARD, [MEAN]),
        ("mul", MEAN, [MEAN]),
        ("matmul", SHARD, [ACROSS]),
        ("transpose", SHARD, [PLAIN, PLAIN]),
        ("squeeze", SHARD, [ZERO]),
        ("nonzero", SHARD, []),
        ("unique", SHARD, []),
        ("repeat", SHARD, [Const(2)]),
        # Cutting off decimals is not linear.
        ("int", MEAN, []),
        ("long", MEAN, []),
        # How many classes there are is read off the slice.
        ("one_hot", SHARD, []),
        # Places of rows, counted from the start of the slice.
        ("where", SHARD, []),
        # Which columns are kept hangs on the row's place in the batch.
        ("tril", SHARD, []),
        ("triu", SHARD, []),
    ],
    ids=label,
)
def test_methods_without_an_answer(name: str, share: Share, arguments: list[Value]) -> None:
    result = method(name, share, arguments, {})
    assert result is None or isinstance(result, Lost)


def test_one_hot_with_its_number_of_classes() -> None:
    assert isinstance(method("one_hot", SHARD, [Const(10)], {}), Shard)
    assert isinstance(method("one_hot", SHARD, [], {"num_classes": PLAIN}), Shard)


def test_the_number_of_ragged_rows_is_a_sum() -> None:
    """It is not in proportion to the slice, so a sum over it is no mean over the batch."""
    assert not isinstance(method("size", RAGGED, [ZERO], {}), Count)
    assert method("size", SHARD, [ZERO], {}) == COUNT


@pytest.mark.parametrize(
    ("sizes", "rank"),
    [([Const(-1)], 1), ([Const(-1), Const(4)], 2), ([COUNT, Const(-1)], 2), ([COUNT, ONE, ONE], 3)],
    ids=label,
)
def test_views_that_keep_the_batch_first(sizes: list[Value], rank: int) -> None:
    for name in ("view", "reshape"):
        result = method(name, SHARD, sizes, {})
        assert result == Shard(L, rank=rank)
        assert method(name, SHARD, [Items(tuple(sizes))], {}) == result


@pytest.mark.parametrize("sizes", [[Const(8), Const(-1)], [PLAIN, Const(-1)]], ids=label)
def test_views_with_the_batch_size_written_down(sizes: list[Value]) -> None:
    assert method("view", SHARD, sizes, {}) is None


@pytest.mark.parametrize(
    ("number", "result"),
    [(ZERO, COUNT), (ONE, PLAIN), (PLAIN, None), (TEXT, None), (Const(True), None)],
    ids=label,
)
def test_entries_of_a_shape(number: Value, result: Value | None) -> None:
    assert indexing.size(ShardShape(L, dim=0), number) == result


def test_entries_of_a_shape_whose_layout_is_not_known() -> None:
    assert indexing.size(ShardShape(L, dim=None), ZERO) is None


def test_a_dimension_counted_from_the_end_of_one() -> None:
    """rank 1: the last dimension is the batch."""
    flat = Shard(L, rank=1)
    assert method("sum", flat, [Const(-1)], {}) == SUM
    assert method("mean", flat, [Const(-1)], {}) == MEAN
    assert method("softmax", flat, [Const(-1)], {}) is None
    assert method("sort", flat, [], {}) is None


@pytest.mark.parametrize("name", ["squeeze", "sum", "select"])
def test_after_a_dimension_is_gone_the_last_may_be_the_batch(name: str) -> None:
    """Two dimensions or one, who knows: along the last must have no answer then."""
    if name == "select":
        left = index(SHARD, Const("all"), True, [(ZERO, False)])
    else:
        left = method(name, SHARD, [ONE], {})
    assert isinstance(left, Shard)
    result = method("sum", left, [Const(-1)], {})
    assert result is None or isinstance(result, Lost)


@pytest.mark.parametrize(
    ("key", "is_slice", "tail", "result"),
    [
        (Const("all"), True, [(ZERO, False)], Shard(L)),
        (Const("all"), True, [(PLAIN, True)], Shard(L)),
        (Const(...), False, [(ZERO, False)], Shard(L)),
        (Shard(L, mask=True), False, [], RAGGED),
        (ZERO, False, [], None),
        (PLAIN, True, [], None),
        (PLAIN, False, [], None),
    ],
    ids=label,
)
def test_indexing(
    key: Value, is_slice: bool, tail: list[tuple[Value, bool]], result: Value | None
) -> None:
    assert outline(index(SHARD, key, is_slice, tail)) == outline(result)


@pytest.mark.parametrize("key", [ZERO, TEXT], ids=label)
def test_indexing_a_structure_gives_its_parts(key: Value) -> None:
    assert isinstance(index(Shard(L, nested=True), key, False, []), Shard)


def test_combining() -> None:
    assert combine([Shard(L, rank=2), Shard(L, rank=2)]) == Shard(L, rank=2)
    assert combine([Shard(L, rank=2), Shard(L, rank=1)]) is None
    assert combine([SHARD, ACROSS]) is None
    assert combine([SHARD, RAGGED]) is None
    # What is stretched to fit has as many dimensions as the longer one, at the least.
    assert combine([Shard(L), SHARD]) == combine([SHARD, Shard(L)]) == SHARD
    assert combine([Shard(L), Shard(L)]) == Shard(L)


def test_masks() -> None:
    mask = Shard(L, mask=True, least=2)
    assert method("gt", SHARD, [ZERO], {}) == mask
    assert method("bool", SHARD, [], {}) == mask
    assert method("squeeze", mask, [ONE], {}) == Shard(L, mask=True)
    assert method("long", mask, [], {}) == SHARD
    assert binary("BitAnd", mask, mask) == mask
    assert binary("BitAnd", mask, SHARD) == SHARD
    assert binary("Mult", mask, mask) == SHARD
    assert join(mask, SHARD) == SHARD


def test_numbers_as_an_index_point_to_rows_of_the_whole_batch() -> None:
    assert index(SHARD, SHARD, False, []) is None
    assert index(SHARD, Const("all"), True, [(SHARD, False)]) is None
