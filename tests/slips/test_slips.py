"""Scripts that were once converted to something else without a word.

Each is right by now, refused, or ended as it runs, with a message; `expected.txt` says which.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.generated.oracle import REFUSED, Judge, Outcome

FOLDER = Path(__file__).parent
EXPECTED = dict(
    line.split(maxsplit=1)
    for line in (FOLDER / "expected.txt").read_text(encoding="utf-8").splitlines()
)
SCRIPTS = sorted((FOLDER / "scripts").glob("*.py"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    made = Judge()
    yield made
    made.close()


def told(outcome: Outcome) -> str:
    """The verdict and, of a refusal, by which rule."""
    rule = outcome.detail.partition(":")[0]
    return f"{outcome.verdict} {rule}" if outcome.verdict == REFUSED else outcome.verdict


@pytest.mark.timeout(120)
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_no_longer_silent(script: Path, judge: Judge) -> None:
    outcome = judge.judge(script.read_text(encoding="utf-8"))
    assert told(outcome) == EXPECTED[script.stem], outcome.detail


def test_all_are_listed() -> None:
    assert sorted(EXPECTED) == [script.stem for script in SCRIPTS]
