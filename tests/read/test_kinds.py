"""What a value is that comes from one of two places."""

import ast

import pytest

from trainera.read.inside import holds_share, models_in
from trainera.read.kinds import (
    PLAIN,
    Bunch,
    Const,
    Count,
    Iter,
    Kind,
    Listing,
    Loader,
    Loss,
    Lost,
    Mapping,
    Mean,
    Model,
    Own,
    Params,
    Shard,
    Sum,
    Thing,
    Whole,
)
from trainera.read.lattice import element, is_zero, join

NODE, OTHER = ast.Pass(), ast.Pass()
L, M = frozenset({NODE}), frozenset({OTHER})
MEAN, SUM, COUNT, SHARD = Mean(L), Sum(L), Count(L), Shard(L)
THROUGH = frozenset({(NODE, True)})
ALL = [PLAIN, Const(0), Const(1.5), Const(None), Own("clock"), MEAN, SUM, COUNT, SHARD]
ALL += [Lost(L, "why"), Whole(L), Loader(L), Model(L), Params(L), Loss("mean"), Thing(NODE, "f")]
ALL += [Bunch((MEAN, PLAIN)), Listing(SHARD), Mapping((("a", MEAN),)), Iter(L, SHARD)]


def label(value: object) -> str:
    """A name for a case that is the same in every run."""
    if isinstance(value, Const):
        return f"Const-{value.value}"
    if isinstance(value, Bunch):
        return "Bunch-" + "-".join(map(label, value.items))
    if isinstance(value, type):
        return value.__name__
    return type(value).__name__ if isinstance(value, Kind) else str(value)


@pytest.mark.parametrize("kind", ALL, ids=label)
def test_joined_with_itself_or_nothing_it_stays(kind: Kind) -> None:
    assert join(kind, kind) == kind
    assert join(None, kind) == kind
    assert join(kind, None) == kind


@pytest.mark.parametrize("left", ALL, ids=label)
@pytest.mark.parametrize("right", ALL, ids=label)
def test_order_does_not_matter_for_what_is_a_share(left: Kind, right: Kind) -> None:
    one, other = join(left, right), join(right, left)
    assert type(one) is type(other)
    assert holds_share(one) == holds_share(other)


@pytest.mark.parametrize("share", [MEAN, SUM, COUNT, SHARD, Lost(L, "why")], ids=label)
@pytest.mark.parametrize("other", ALL, ids=label)
def test_a_share_is_never_forgotten(share: Kind, other: Kind) -> None:
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
        (SHARD, Whole(L), Lost),
        (MEAN, Own("clock"), Lost),
        (MEAN, Lost(L, "why"), Lost),
        (MEAN, Const(None), Mean),
        (SHARD, Const(None), Shard),
        (MEAN, Bunch((MEAN,)), Lost),
    ],
    ids=label,
)
def test_shares(left: Kind, right: Kind, joined: type[Kind]) -> None:
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
        (Shard(L, rank=2), Shard(L, rank=3), Shard(L)),
        (Shard(L, nested=True), Shard(L), Shard(L, nested=True)),
        (Shard(L, ragged=True), Shard(L), Shard(L, ragged=True)),
        (Shard(L, vague=True), Shard(L), Shard(L, vague=True)),
    ],
    ids=label,
)
def test_shards_keep_only_what_both_have(left: Kind, right: Kind, joined: Kind) -> None:
    assert join(left, right) == joined
    assert join(right, left) == joined


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (Const(1), Const(2), PLAIN),
        (Const(1), PLAIN, PLAIN),
        (Own("clock"), PLAIN, Own("clock")),
        (Loader(L), Loader(M), Loader(L | M)),
        (Loader(L), Const(None), Loader(L)),
        (Params(L), Params(M), Params(L | M)),
        (Whole(L), PLAIN, Whole(L)),
        (Model(L), PLAIN, Model(L)),
        (Model(L, wrapped=True), Model(L), Model(L, wrapped=None)),
        (Model(L), Model(M), Model(L | M)),
        (Bunch((MEAN, PLAIN)), Bunch((MEAN, Const(1))), Bunch((MEAN, PLAIN))),
        (Bunch((MEAN,)), Bunch(()), Listing(MEAN)),
        (Mapping((("a", MEAN),)), Mapping((("b", SUM),)), Mapping((("a", MEAN), ("b", SUM)))),
    ],
    ids=label,
)
def test_others(left: Kind, right: Kind, joined: Kind) -> None:
    assert join(left, right) == joined


def test_losses_that_reduce_differently_are_unknown() -> None:
    joined = join(Loss("mean"), Loss("sum"))
    assert isinstance(joined, Loss)
    assert joined.reduction == "unknown"
    assert joined.trouble


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
def test_zero(kind: Kind | None, zero: bool) -> None:
    assert is_zero(kind) is zero


@pytest.mark.parametrize(
    ("kind", "inside"),
    [
        (Loader(L), Shard(L, nested=True, vague=True)),
        (Iter(L, MEAN), MEAN),
        (Listing(SUM), SUM),
        (Bunch((MEAN, MEAN)), MEAN),
        (Bunch(()), PLAIN),
        (Whole(L), Whole(L)),
        (PLAIN, PLAIN),
        (Const("abc"), PLAIN),
    ],
    ids=label,
)
def test_what_iterating_gives(kind: Kind, inside: Kind) -> None:
    assert element(kind) == inside


@pytest.mark.parametrize("share", [SHARD, MEAN, SUM], ids=label)
def test_a_batch_taken_apart_is_lost(share: Kind) -> None:
    assert isinstance(element(share), Lost)


@pytest.mark.parametrize(
    ("kind", "holds"),
    [
        (MEAN, True),
        (Bunch((PLAIN, Bunch((MEAN,)))), True),
        (Listing(Bunch((SHARD,))), True),
        (Mapping((("a", Listing(SUM)),)), True),
        (Lost(L, "why"), True),
        (Bunch((PLAIN, Const(1))), False),
        (Listing(PLAIN), False),
        (Whole(L), False),
        (Loader(L), False),
    ],
    ids=label,
)
def test_holding_a_share(kind: Kind, holds: bool) -> None:
    assert holds_share(kind) is holds


def test_parameters_inside_a_structure() -> None:
    groups = Bunch((Mapping((("params", Params(L)), ("lr", Const(1)))), Listing(Params(M))))
    assert models_in(groups) == L | M
    assert models_in(Bunch((PLAIN, Const(1)))) == frozenset()
