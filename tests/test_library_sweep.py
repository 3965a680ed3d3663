"""Files that are no training scripts: never a crash, never long, never a claim to convert them."""

import sysconfig
from pathlib import Path

import pytest

from tests.tools.sweep import (
    CRASHED,
    LIMIT_S,
    PLANNED,
    Outcome,
    all_files,
    examine,
    examine_in_place,
    sample,
)

SIZE = 300


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    return [examine(path) for path in sample(all_files(), SIZE)]


def test_there_is_something_to_look_at(outcomes: list[Outcome]) -> None:
    assert len(outcomes) == SIZE


def test_nothing_crashes(outcomes: list[Outcome]) -> None:
    crashed = [outcome for outcome in outcomes if outcome.verdict == CRASHED]
    assert not crashed, "\n".join(map(str, crashed))


def test_nothing_is_claimed(outcomes: list[Outcome]) -> None:
    claimed = [outcome for outcome in outcomes if outcome.verdict == PLANNED]
    assert not claimed, "\n".join(map(str, claimed))


def test_nothing_takes_long(outcomes: list[Outcome]) -> None:
    slow = [outcome for outcome in outcomes if outcome.took_s > LIMIT_S]
    assert not slow, "\n".join(map(str, slow))


def test_files_that_mention_gradients() -> None:
    """The nearest to training scripts that libraries have: those with a call of backward()."""
    near = [path for path in all_files() if _mentions_backward(path)]
    outcomes = [examine(path) for path in sample(near, 40)]
    assert not [str(outcome) for outcome in outcomes if outcome.verdict in (CRASHED, PLANNED)]


def _mentions_backward(path: Path) -> bool:
    # All of torch's own tests and tools stand there; reading every file of the standard library
    # for this would take longer than the test.
    return "torch" in path.parts and b".backward()" in path.read_bytes()


def test_a_file_among_many_modules() -> None:
    """Hundreds of modules beside a script: none of them makes it crash or claim to train."""
    outcome = examine_in_place(Path(sysconfig.get_paths()["stdlib"]) / "argparse.py")
    assert outcome.verdict not in (CRASHED, PLANNED)
