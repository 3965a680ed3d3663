"""What all outcomes come to."""

from collections import Counter
from collections.abc import Callable, Iterable

from tests.operations.cases import ROW_WISE
from tests.operations.judge import (
    BAD,
    CRASHED,
    GATHERED,
    PLANNER,
    REFUSED,
    ROUNDING,
    TAKEN,
    WHOLE,
    WRONG,
)
from tests.operations.judge import Outcome as Outcome

VERDICTS = (WRONG, CRASHED, PLANNER, ROUNDING, REFUSED, GATHERED, WHOLE, TAKEN)


def groups(outcomes: Iterable[Outcome], by: Callable[[Outcome], str]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(by(outcome), []).append(outcome)
    return found


def row(name: str, outcomes: list[Outcome]) -> str:
    """One line of the tally."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    apart = [outcome for outcome in outcomes if outcome.truth == ROW_WISE]
    taken = sum(outcome.verdict == TAKEN for outcome in apart)
    for_nothing = sum(outcome.for_nothing and outcome.verdict != REFUSED for outcome in apart)
    share = f"{100 * taken / len(apart):4.0f} %" if apart else "     –"
    cells = "".join(f"{counts[verdict]:>9}" for verdict in VERDICTS)
    return f"{name[:40]:40}{len(outcomes):>8}{cells}{for_nothing:>9}{share:>9}"


def table(outcomes: list[Outcome], by: Callable[[Outcome], str]) -> list[str]:
    titles = ("wrong", "crashed", "planner", "rounding", "refused", "gathered", "whole", "taken")
    head = f"{'':40}{'all':>8}" + "".join(f"{title:>9}" for title in titles)
    lines = [f"{head}{'needless':>9}{'row-wise':>9}"]
    lines += [row(name, found) for name, found in groups(outcomes, by).items()]
    return [*lines, row("all", outcomes)]


def wrong_lines(outcomes: Iterable[Outcome]) -> list[str]:
    """One line for each case that came out wrong or crashed."""
    return [
        f"{outcome.verdict}\t{outcome.use}\t{outcome.key}\t{outcome.message}"
        for outcome in outcomes
        if outcome.verdict in BAD
    ]


def for_nothing_lines(outcomes: Iterable[Outcome]) -> list[str]:
    return [
        f"{outcome.verdict} for nothing\t{outcome.use}\t{outcome.key}\t{outcome.message}"
        for outcome in outcomes
        if outcome.for_nothing
    ]
