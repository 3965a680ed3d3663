"""The design of an experiment: what is run, how often, in which order."""

from collections import Counter

import pytest

from trainera.bench.design import Design, Run, Subject, command_arguments, from_data, plan, settings
from trainera.bench.platforms import Offer, Platform
from trainera.bench.strategies import SEQUENTIAL, Strategy, parse, usual
from trainera.errors import UserError

ENGINES = ("ddp", "horovod", "mirrored")
SUBJECTS = [
    Subject(name="a", script="a.py", arguments=("--quick",), seed="--seed", engines=("ddp",)),
    Subject(name="b", script="b.py", engines=("ddp",)),
]
TWO = Strategy(engine="ddp", workers=2)
GROWN = Strategy(engine="ddp", workers=2, batch="per-worker", rate="linear")


def test_every_block_holds_every_combination_once() -> None:
    runs = plan(SUBJECTS, [SEQUENTIAL, TWO], Design(repetitions=4, warm_up=1, energy_runs=1))
    blocks = Counter(run.block for run in runs)
    assert set(blocks.values()) == {4}
    for block in blocks:
        cells = [run.cell for run in runs if run.block == block]
        assert len(set(cells)) == 4
    assert Counter(run.kind for run in runs) == {"warm-up": 4, "timed": 16, "energy": 4}


def test_the_order_is_random_but_the_same_for_a_seed() -> None:
    def order(seed: int) -> list[tuple[str, str]]:
        runs = plan(SUBJECTS, [SEQUENTIAL, TWO], Design(repetitions=6, seed=seed))
        return [(run.subject.name, run.strategy.name) for run in runs]

    assert order(1) == order(1)
    assert order(1) != order(2)
    blocks = [tuple(order(1)[start : start + 4]) for start in range(0, 28, 4)]
    assert len(set(blocks)) > 1


def test_energy_runs_stand_among_timed_runs() -> None:
    runs = plan(SUBJECTS[:1], [SEQUENTIAL], Design(repetitions=10, energy_runs=3, warm_up=1))
    kinds = "".join(run.kind[0] for run in runs)
    assert kinds == "wtttettetttett"


def test_a_full_factorial() -> None:
    found = settings({"--lr": ("0.1", "0.2"), "--width": ("1", "2", "3")}, 1)
    assert len(found) == 6
    assert len({tuple(one.items()) for one in found}) == 6


def test_a_fraction_keeps_every_level_equally_often() -> None:
    found = settings({"a": ("1", "2"), "b": ("1", "2"), "c": ("1", "2", "3", "4")}, 2)
    assert len(found) == 8
    for name in "abc":
        assert len(set(Counter(one[name] for one in found).values())) == 1
    pairs = Counter((one["a"], one["b"]) for one in found)
    assert set(pairs.values()) == {2}


@pytest.mark.parametrize(
    ("factors", "fraction", "message"),
    [
        ({"a": ("1", "2", "3"), "b": ("1", "2")}, 2, "factor a: 3 levels cannot be divided"),
        ({"a": ("1", "2")}, 2, "at least two factors"),
        ({}, 0, "fraction 0"),
    ],
)
def test_fractions_that_cannot_be(
    factors: dict[str, tuple[str, ...]], fraction: int, message: str
) -> None:
    with pytest.raises(UserError, match=message):
        settings(factors, fraction)


def test_what_a_script_cannot_do_is_left_out() -> None:
    runs = plan(SUBJECTS, [SEQUENTIAL, GROWN], Design(repetitions=1, warm_up=0))
    assert {run.cell[:2] for run in runs} == {
        ("a", "sequential"),
        ("b", "sequential"),
        ("a", "ddp 2 per-worker lr linear"),
        ("b", "ddp 2 per-worker lr linear"),
    }
    other = Subject(name="k", script="k.py", engines=("mirrored",))
    runs = plan([other, SUBJECTS[0]], [TWO], Design(repetitions=1, warm_up=0))
    assert [run.cell[:2] for run in runs] == [("a", "ddp 2")]


def test_arguments_of_a_run() -> None:
    run = Run(subject=SUBJECTS[0], strategy=GROWN, kind="timed", block=3, setting={"--width": "5"})
    assert list(command_arguments(run)) == ["--quick", "--seed", "3", "--width", "5"]
    run = Run(subject=SUBJECTS[0], strategy=GROWN, kind="timed", block=3, setting={"--seed": "7"})
    assert list(command_arguments(run)) == ["--quick", "--seed", "7"]


def test_a_run_comes_back_as_it_was() -> None:
    import json

    run = Run(subject=SUBJECTS[0], strategy=GROWN, kind="energy", block=3, setting={"--w": "5"})
    assert from_data(json.loads(json.dumps(run.as_data()))) == run


def test_strategies_by_name() -> None:
    assert parse("sequential", ENGINES) == SEQUENTIAL
    assert parse("ddp:2", ENGINES) == TWO
    own = parse("ddp:2:own", ENGINES)
    assert own.options == ("--random", "own") and own.name == "ddp 2 own random numbers"
    assert parse("ddp:2:per-worker:linear", ENGINES) == GROWN
    grown = parse("ddp:4:per-worker:sqrt:warmup=2.5", ENGINES)
    assert grown.name == "ddp 4 per-worker lr sqrt warm-up 2.5"
    assert grown.options == ("--batch", "per-worker", "--lr", "sqrt", "--warmup", "2.5")
    unequal = parse("ddp:2:shares=5:1:own", ENGINES)
    assert unequal.options == ("--random", "own", "--shares", "5:1")
    assert unequal.name == "ddp 2 own random numbers shares 5:1"
    assert parse("ddp:2:shares=auto", ENGINES).options == ("--shares", "auto")
    assert TWO.options == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dpd:2", "no engine is called 'dpd' — choose one of: ddp"),
        ("ddp", "the number of workers is missing"),
        ("ddp:two", "'two' is not a number of workers"),
        ("ddp:2:big", "'big' is not understood"),
        ("ddp:2:linear", "add per-worker"),
        ("ddp:2:per-worker:warmup=2", "add linear"),
        ("ddp:2:per-worker:linear:warmup=x", "'warmup=x' is not understood"),
        ("ddp:2:shares=5:1:1", "there are 3 shares and 2 workers"),
        ("ddp:2:shares=-5:1", "a share is a number from 0 on"),
        ("ddp:2:shares=", "shares are numbers with colons"),
    ],
)
def test_strategies_that_are_none(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        parse(text, ENGINES)


def test_the_usual_strategies() -> None:
    torch, keras = Platform(framework="torch"), Platform(framework="keras", backend="jax")
    both = [
        [Offer(engine=name, platform=torch, grows=True) for name in ("ddp", "horovod")],
        [Offer(engine="jax", platform=keras)],
    ]
    names = [one.name for one in usual(both, [1, 2], all_workers=False)]
    of_torch = ["ddp 1", "ddp 2", "ddp 2 per-worker", "horovod 2"]
    assert names == ["sequential", *of_torch, "jax 1", "jax 2"]
    names = [one.name for one in usual(both[:1], [1, 2], all_workers=True)]
    assert names[-2:] == ["horovod 1", "horovod 2"]


def test_repetitions_that_cannot_be() -> None:
    with pytest.raises(UserError, match="0 repetitions"):
        Design(repetitions=0)
    with pytest.raises(UserError, match="fewer than 0"):
        Design(warm_up=-1)
