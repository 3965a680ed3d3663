"""The algebra of shares: what an operation on a slice gives, and what it cannot give."""

import ast
from dataclasses import replace

import pytest

from trainera.read.ops import shapes, stacking, tensors
from trainera.read.values import (
    PLAIN,
    Const,
    Count,
    Gathered,
    Items,
    Lost,
    Mean,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Sum,
    Value,
)
from trainera.read.values.join import join

NODE, OTHER = ast.Pass(), ast.Pass()
L, M = frozenset({NODE}), frozenset({OTHER})
MEAN, SUM, COUNT, SHARD = Mean(L), Sum(L), Count(L), Shard(L)
RAGGED, ACROSS = Shard(L, ragged=True), Shard(L, dim=1)
ZERO, ONE, TEXT = Const(0), Const(1), Const("a")


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
        marks = [name for name in ("ragged", "nested", "vague") if getattr(value, name)]
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
        (COUNT, "Mult", PLAIN, SUM),
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
        (SHARD, "MatMult", PLAIN, SHARD),
        (RAGGED, "Sub", RAGGED, RAGGED),
    ],
    ids=label,
)
def test_operators(left: Value, operator: str, right: Value, result: Value) -> None:
    assert tensors.binary(operator, left, right) == result


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
    assert tensors.binary(operator, left, right) is None


@pytest.mark.parametrize(
    "own", [PerWorker("this worker's random numbers"), PerWorker("the clock")], ids=label
)
@pytest.mark.parametrize("share", [MEAN, SUM, SHARD], ids=label)
def test_each_workers_own_value_spoils_a_share(share: Share, own: PerWorker) -> None:
    """Scaled by a number that differs from worker to worker, a mean is no mean of the batch."""
    result = tensors.binary("Mult", share, own)
    assert result is None or isinstance(result, Lost)


@pytest.mark.parametrize("operator", ["Add", "Mult", "Div", "MatMult"])
@pytest.mark.parametrize("share", [MEAN, SUM, COUNT, SHARD], ids=label)
def test_what_is_lost_stays_lost(operator: str, share: Share) -> None:
    lost = Lost(L, "why")
    assert tensors.binary(operator, lost, share) == lost
    assert tensors.binary(operator, share, lost) == lost
    assert tensors.method("sum", lost, [], {}) == lost


@pytest.mark.parametrize(("left", "right"), [(Mean(L), Mean(M)), (Shard(L), Shard(M))], ids=label)
def test_batches_of_two_loaders_do_not_mix(left: Value, right: Value) -> None:
    result = tensors.binary("Add", left, right)
    assert isinstance(result, Lost)
    assert "two loaders" in result.why
    assert result.loaders == L | M


def test_a_slice_does_not_fit_the_whole_batch() -> None:
    """No answer: so both are made whole."""
    assert tensors.binary("Mult", SHARD, Gathered(L)) is None
    assert tensors.method("add", SHARD, [Gathered(L)], {}) is None
    assert tensors.binary("Mult", SHARD, Gathered(L, rows=False)) == SHARD


def test_slices_one_after_the_other() -> None:
    both = stacking.joined("cat", [SHARD, SHARD], Const(0), all_known=True)
    assert both == Shard(L, parts=2)
    assert tensors.method("chunk", both, [Const(2)], {}) == Items((SHARD, SHARD))
    assert tensors.method("chunk", both, [Const(4)], {}) is None
    assert tensors.method("chunk", both, [Const(2), Const(1)], {}) is None
    assert tensors.method("mean", both, [], {}) == Mean(L)
    assert tensors.binary("Add", both, both) == both
    assert tensors.binary("Add", both, SHARD) is None
    assert stacking.joined("cat", [both, both], Const(0), all_known=True) is None
    assert stacking.joined("cat", [SHARD], Const(0), all_known=False) is None
    assert stacking.joined("cat", [SHARD, PLAIN], Const(0), all_known=True) is None
    assert isinstance(join(both, SHARD), Lost)


def test_networks_are_remembered() -> None:
    through = frozenset({(NODE, True)})
    for result in (
        tensors.binary("Sub", Shard(L, models=through), SHARD),
        tensors.binary("Mult", PLAIN, Mean(L, models=through)),
        tensors.binary("Add", MEAN, Mean(L, models=through)),
        tensors.method("mean", Shard(L, models=through), [], {}),
        tensors.method("mul", SHARD, [Shard(L, models=through)], {}),
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
    assert outline(tensors.method(name, share, arguments, {})) == outline(result)


def test_keywords_say_along_which_dimension() -> None:
    assert tensors.method("mean", SHARD, [], {"dim": ZERO}) == MEAN
    assert tensors.method("sum", SHARD, [], {"axis": ZERO}) == SUM
    assert isinstance(tensors.method("mean", SHARD, [], {"dim": ONE}), Shard)
    assert tensors.method("softmax", SHARD, [], {"dim": ZERO}) is None


def test_a_pair_of_values_and_places() -> None:
    result = tensors.method("max", SHARD, [ONE], {})
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
    result = tensors.method(name, share, arguments, {})
    assert result is None or isinstance(result, Lost)


def test_one_hot_with_its_number_of_classes() -> None:
    assert isinstance(tensors.method("one_hot", SHARD, [Const(10)], {}), Shard)
    assert isinstance(tensors.method("one_hot", SHARD, [], {"num_classes": PLAIN}), Shard)


def test_the_number_of_ragged_rows_is_a_sum() -> None:
    """It is not in proportion to the slice, so a sum over it is no mean over the batch."""
    assert not isinstance(tensors.method("size", RAGGED, [ZERO], {}), Count)
    assert tensors.method("size", SHARD, [ZERO], {}) == COUNT


@pytest.mark.parametrize(
    ("sizes", "rank"),
    [([Const(-1)], 1), ([Const(-1), Const(4)], 2), ([COUNT, Const(-1)], 2), ([COUNT, ONE, ONE], 3)],
    ids=label,
)
def test_views_that_keep_the_batch_first(sizes: list[Value], rank: int) -> None:
    for name in ("view", "reshape"):
        result = tensors.method(name, SHARD, sizes, {})
        assert result == Shard(L, rank=rank)
        assert tensors.method(name, SHARD, [Items(tuple(sizes))], {}) == result


@pytest.mark.parametrize("sizes", [[Const(8), Const(-1)], [PLAIN, Const(-1)]], ids=label)
def test_views_with_the_batch_size_written_down(sizes: list[Value]) -> None:
    assert tensors.method("view", SHARD, sizes, {}) is None


@pytest.mark.parametrize(
    ("number", "result"),
    [(ZERO, COUNT), (ONE, PLAIN), (PLAIN, None), (TEXT, None), (Const(True), None)],
    ids=label,
)
def test_entries_of_a_shape(number: Value, result: Value | None) -> None:
    assert shapes.dimension(ShardShape(L, dim=0), number) == result


def test_entries_of_a_shape_whose_layout_is_not_known() -> None:
    assert shapes.dimension(ShardShape(L, dim=None), ZERO) is None


def test_a_dimension_counted_from_the_end_of_one() -> None:
    """rank 1: the last dimension is the batch."""
    flat = Shard(L, rank=1)
    assert tensors.method("sum", flat, [Const(-1)], {}) == SUM
    assert tensors.method("mean", flat, [Const(-1)], {}) == MEAN
    assert tensors.method("softmax", flat, [Const(-1)], {}) is None
    assert tensors.method("sort", flat, [], {}) is None


@pytest.mark.parametrize("name", ["squeeze", "sum", "select"])
def test_after_a_dimension_is_gone_the_last_may_be_the_batch(name: str) -> None:
    """Two dimensions or one, who knows: along the last must have no answer then."""
    if name == "select":
        left = shapes.index(SHARD, Const("all"), True, [(ZERO, False)])
    else:
        left = tensors.method(name, SHARD, [ONE], {})
    assert isinstance(left, Shard)
    result = tensors.method("sum", left, [Const(-1)], {})
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
    assert outline(shapes.index(SHARD, key, is_slice, tail)) == outline(result)


@pytest.mark.parametrize("key", [ZERO, TEXT], ids=label)
def test_indexing_a_structure_gives_its_parts(key: Value) -> None:
    assert isinstance(shapes.index(Shard(L, nested=True), key, False, []), Shard)


def test_combining() -> None:
    assert tensors.combine([Shard(L, rank=2), Shard(L, rank=2)]) == Shard(L, rank=2)
    assert tensors.combine([Shard(L, rank=2), Shard(L, rank=1)]) is None
    assert tensors.combine([SHARD, ACROSS]) is None
    assert tensors.combine([SHARD, RAGGED]) is None
    raw, squeezed = Shard(L, vague=True), Shard(L, vague=True, models=frozenset({(NODE, True)}))
    for one, vague in ((raw, False), (squeezed, True)):
        for shards in ([one, SHARD], [SHARD, one]):
            combined = tensors.combine(shards)
            assert combined is not None
            assert combined.vague is vague
    both = tensors.combine([raw, raw])
    assert both is not None and both.vague


def test_masks() -> None:
    mask = Shard(L, mask=True)
    assert tensors.method("gt", SHARD, [ZERO], {}) == mask
    assert tensors.method("bool", SHARD, [], {}) == mask
    assert tensors.method("squeeze", mask, [ONE], {}) == replace(mask, vague=True)
    assert tensors.method("long", mask, [], {}) == SHARD
    assert tensors.binary("BitAnd", mask, mask) == mask
    assert tensors.binary("BitAnd", mask, SHARD) == SHARD
    assert tensors.binary("Mult", mask, mask) == SHARD
    assert join(mask, SHARD) == SHARD


def test_numbers_as_an_index_point_to_rows_of_the_whole_batch() -> None:
    assert shapes.index(SHARD, SHARD, False, []) is None
    assert shapes.index(SHARD, Const("all"), True, [(SHARD, False)]) is None
