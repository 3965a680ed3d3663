"""What a value is that comes from one of two places."""

import ast
from dataclasses import replace

import pytest

from trainera.read.values import (
    PLAIN,
    Answer,
    BatchIterable,
    Const,
    Count,
    Dictionary,
    Gathered,
    Items,
    LibraryObject,
    Loader,
    LossFunction,
    Lost,
    Many,
    Mean,
    Network,
    Parameters,
    PerWorker,
    Shard,
    Sum,
    Union,
    Value,
)
from trainera.read.values.contents import holds_share, networks_in
from trainera.read.values.join import element, is_zero, join

NODE, OTHER = ast.Pass(), ast.Pass()
L, M = frozenset({NODE}), frozenset({OTHER})
MEAN, SUM, COUNT, SHARD = Mean(L), Sum(L), Count(L), Shard(L)
THROUGH = frozenset({(NODE, True)})
ALL = [PLAIN, Const(0), Const(1.5), Const(None), PerWorker("clock"), MEAN, SUM, COUNT, SHARD]
ALL += [
    Lost(L, "why"),
    Gathered(L),
    Loader(L),
    Network(L),
    Parameters(L),
    LossFunction("mean"),
    LibraryObject(NODE, "f"),
]
ALL += [Items((MEAN, PLAIN)), Many(SHARD), Dictionary((("a", MEAN),)), BatchIterable(L, SHARD)]


def label(value: object) -> str:
    """A name for a case that is the same in every run."""
    if isinstance(value, Const):
        return f"Const-{value.value}"
    if isinstance(value, Items):
        return "Bunch-" + "-".join(map(label, value.items))
    if isinstance(value, type):
        return value.__name__
    return type(value).__name__ if isinstance(value, Value) else str(value)


@pytest.mark.parametrize("kind", ALL, ids=label)
def test_joined_with_itself_or_nothing_it_stays(kind: Value) -> None:
    assert join(kind, kind) == kind
    assert join(None, kind) == kind
    assert join(kind, None) == kind


@pytest.mark.parametrize("left", ALL, ids=label)
@pytest.mark.parametrize("right", ALL, ids=label)
def test_order_does_not_matter_for_what_is_a_share(left: Value, right: Value) -> None:
    one, other = join(left, right), join(right, left)
    assert type(one) is type(other)
    assert holds_share(one) == holds_share(other)


@pytest.mark.parametrize("share", [MEAN, SUM, COUNT, SHARD, Lost(L, "why")], ids=label)
@pytest.mark.parametrize("other", ALL, ids=label)
def test_a_share_is_never_forgotten(share: Value, other: Value) -> None:
    """A value that is a share on one path must not pass for the same on every worker."""
    assert holds_share(join(share, other))
    assert holds_share(join(other, share))


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        # The same everywhere: it is its own mean, but would be added once for every worker.
        (MEAN, Const(3), Mean),
        (MEAN, PLAIN, Mean),
        (SUM, Const(0), Sum),
        (SUM, Const(0.0), Sum),
        (COUNT, Const(0), Count),
        (SUM, Const(1), Lost),
        (COUNT, Const(1), Lost),
        (SUM, PLAIN, Lost),
        (SUM, Const(False), Lost),
        (SUM, COUNT, Sum),
        (MEAN, SUM, Lost),
        (MEAN, COUNT, Lost),
        (MEAN, SHARD, Lost),
        (SHARD, PLAIN, Lost),
        (SHARD, Gathered(L), Lost),
        (MEAN, PerWorker("clock"), Lost),
        (MEAN, Lost(L, "why"), Lost),
        (MEAN, Const(None), Mean),
        (SHARD, Const(None), Shard),
        (MEAN, Items((MEAN,)), Lost),
    ],
    ids=label,
)
def test_shares(left: Value, right: Value, joined: type[Value]) -> None:
    assert type(join(left, right)) is joined
    assert type(join(right, left)) is joined


def test_networks_are_remembered() -> None:
    joined = join(MEAN, Mean(L, models=THROUGH))
    assert isinstance(joined, Mean)
    assert joined.models == THROUGH


def test_loaders_are_remembered() -> None:
    joined = join(MEAN, Mean(M))
    assert isinstance(joined, Mean)
    assert joined.loaders == L | M


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (Shard(L), Shard(L, dim=1), Shard(L, dim=None)),
        (Shard(L, rank=2), Shard(L, rank=3), Shard(L, least=2)),
        (Shard(L, nested=True), Shard(L), Shard(L, nested=True)),
        (Shard(L, ragged=True), Shard(L), Shard(L, ragged=True)),
        (Shard(L), Shard(L, least=2), Shard(L)),
    ],
    ids=label,
)
def test_shards_keep_only_what_both_have(left: Value, right: Value, joined: Value) -> None:
    assert join(left, right) == joined
    assert join(right, left) == joined


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (Const(1), Const(2), PLAIN),
        (Const(1), PLAIN, PLAIN),
        (PerWorker("clock"), PLAIN, PerWorker("clock", maybe_none=True)),
        (Loader(L), Loader(M), Loader(L | M)),
        (Loader(L), Const(None), Loader(L, maybe_none=True)),
        (Parameters(L), Parameters(M), Parameters(L | M)),
        (Gathered(L), PLAIN, Gathered(L, maybe_none=True)),
        (Network(L), PLAIN, Network(L, maybe_none=True)),
        (Network(L, wrapped=True), Network(L), Network(L, wrapped=None)),
        (Network(L), Network(M), Network(L | M)),
        (Items((MEAN, PLAIN)), Items((MEAN, Const(1))), Items((MEAN, PLAIN))),
        (Items((MEAN,)), Items(()), Many(MEAN)),
        (
            Dictionary((("a", MEAN),)),
            Dictionary((("b", SUM),)),
            Dictionary(
                (("a", replace(MEAN, maybe_none=True)), ("b", replace(SUM, maybe_none=True)))
            ),
        ),
    ],
    ids=label,
)
def test_others(left: Value, right: Value, joined: Value) -> None:
    assert join(left, right) == joined


def test_each_of_several_losses_counts() -> None:
    mean, total = LossFunction("mean"), LossFunction("sum")
    assert join(mean, total) == Union((mean, total))
    assert join(mean, mean) == mean


@pytest.mark.parametrize(
    ("kind", "zero"),
    [
        (Const(0), True),
        (Const(0.0), True),
        (Const(-0.0), True),
        (Const(False), False),
        (Const(None), False),
        (Const(""), False),
        (Const(1e-9), False),
        (PLAIN, False),
        (None, False),
    ],
    ids=label,
)
def test_zero(kind: Value | None, zero: bool) -> None:
    assert is_zero(kind) is zero


@pytest.mark.parametrize(
    ("kind", "inside"),
    [
        (Loader(L), Shard(L, nested=True, listed=Answer.MAYBE)),
        (BatchIterable(L, MEAN), MEAN),
        (Many(SUM), SUM),
        (Items((MEAN, MEAN)), MEAN),
        (Items(()), PLAIN),
        (Gathered(L), Gathered(L)),
        (PLAIN, PLAIN),
        (Const("abc"), PLAIN),
    ],
    ids=label,
)
def test_what_iterating_gives(kind: Value, inside: Value) -> None:
    assert element(kind) == inside


@pytest.mark.parametrize("share", [SHARD, MEAN, SUM], ids=label)
def test_a_batch_taken_apart_is_lost(share: Value) -> None:
    assert isinstance(element(share), Lost)


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        (MEAN, True),
        (Items((PLAIN, Items((MEAN,)))), True),
        (Many(Items((SHARD,))), True),
        (Dictionary((("a", Many(SUM)),)), True),
        (Lost(L, "why"), True),
        (Items((PLAIN, Const(1))), False),
        (Many(PLAIN), False),
        (Gathered(L), False),
        (Loader(L), False),
    ],
    ids=label,
)
def test_holding_a_share(kind: Value, holds: bool) -> None:
    assert holds_share(kind) is holds


def test_parameters_inside_a_structure() -> None:
    groups = Items((Dictionary((("params", Parameters(L)), ("lr", Const(1)))), Many(Parameters(M))))
    assert networks_in(groups) == L | M
    assert networks_in(Items((PLAIN, Const(1)))) == frozenset()
