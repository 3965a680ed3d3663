"""A part of what `python -m tests.operations` tries, small enough for every run of the tests."""

import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.operations import forms, work
from tests.operations.cases import ROW_WISE, alike, find_truth
from tests.operations.crews import Runner
from tests.operations.judge import BAD, PLANNER, WRONG, Judge, Outcome, unlike
from tests.operations.keys import case_of
from tests.operations.scripts import USES

pytestmark = [pytest.mark.xdist_group("operations"), pytest.mark.timeout(900)]
ONCE_WRONG = Path(__file__).with_name("once_wrong.txt")
REPRESENTATIVES = (
    "h2 * w1",
    "h2 @ w2",
    "h2.sum(0)",
    "h2.mean(1)",
    "h2.softmax(1)",
    "h2.argmax(-1)",
    "h2.flip(0)",
    "h2[:, 0]",
    "h2[m1]",
    "h2.T.mean(1)",
    "h3.flatten(1)",
    "h2 - h2.mean(1, keepdim=True)",
    "h2.sum() / len(h2)",
    "torch.cat([h2, k2], 1)",
    "torch.where(m2, h2, 0.0)",
    "F.cross_entropy(h2, y)",
    "F.mse_loss(h2, k2, reduction='sum')",
    "h2.detach().numpy().mean(0)",
    "np.concatenate([h2.detach().numpy(), k2.numpy()], axis=1)",
)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    work.prepare()
    runner = Runner()
    usual = signal.getsignal(signal.SIGALRM)
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield Judge(Path(folder), runner)
        finally:
            runner.close()
            signal.signal(signal.SIGALRM, usual)


def once_wrong() -> list[tuple[str, str]]:
    """Uses and keys of cases that were converted wrongly at some time."""
    lines = ONCE_WRONG.read_text(encoding="utf-8").splitlines()
    return [
        (use, key)
        for line in lines
        if line and not line.startswith("#")
        for use, _, key in [line.partition(": ")]
    ]


def told(outcomes: list[Outcome], verdicts: tuple[str, ...] = BAD) -> str:
    return "\n".join(
        f"{outcome.verdict}, {outcome.use}: {outcome.message}\n{outcome.script}"
        for outcome in outcomes
        if outcome.verdict in verdicts
    )


@pytest.fixture(scope="module")
def of_once_wrong(judge: Judge) -> dict[tuple[str, str], list[Outcome]]:
    """All of them in a few goes: crews are quickest with many scripts one after the other."""
    found: dict[tuple[str, str], list[Outcome]] = {}
    for use in USES:
        cases = [case_of(key) for mine, key in once_wrong() if mine == use]
        for outcome in judge.judge(cases, (use,)):
            found.setdefault((use, outcome.key), []).append(outcome)
    return found


@pytest.mark.parametrize("expression", REPRESENTATIVES)
def test_representatives(judge: Judge, expression: str) -> None:
    outcomes = judge.judge(forms.cases("forms", "tests", (expression,)))
    assert outcomes, "torch itself does not take it"
    assert not told(outcomes), told(outcomes)


@pytest.mark.parametrize(("use", "key"), once_wrong())
def test_once_wrong(
    of_once_wrong: dict[tuple[str, str], list[Outcome]], use: str, key: str
) -> None:
    """Nothing goes wrong in silence. A tensor of the whole batch's size fits no slice: an error."""
    outcomes = of_once_wrong.get((use, case_of(key).key), [])
    assert outcomes, "torch itself does not take it"
    assert not told(outcomes, (WRONG, PLANNER)), told(outcomes, (WRONG, PLANNER))


def test_a_difference_is_seen() -> None:
    """The judge would be no use if it could not tell."""
    import numpy as np

    one = [("tensor", "torch.float64", np.array([1.0, 2.0]))]
    assert not unlike([one], [one])
    assert unlike([one], [[("tensor", "torch.float64", np.array([1.0, 2.0 + 1e-7]))]])
    assert unlike([one], [[("tensor", "torch.float64", np.array([[1.0, 2.0]]))]])
    assert unlike([one], [[("tensor", "torch.float32", np.array([1.0, 2.0]))]])
    assert not unlike([[float("nan")]], [[float("nan")]])


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        ("h2 * w1", ROW_WISE),
        ("h2.T", ROW_WISE),
        ("h2.sum(0)", "sum"),
        ("h2.mean(-2)", "mean"),
        ("h2.softmax(0)", "mixes rows"),
        ("torch.zeros(3) * h2.ndim", "replicated"),
    ],
)
def test_truth(expression: str, word: str) -> None:
    truth = find_truth(forms.cases("forms", "tests", (expression,))[0])
    assert truth is not None and truth.word == word
    assert alike(truth.value, truth.value)
