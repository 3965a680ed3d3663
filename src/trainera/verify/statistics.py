"""Two runs that cannot be compared step by step, compared by what many of them come to.

An equivalence test: that no difference was found proves nothing, so the question is turned round.
Equivalent are two trainings whose results lie closer together than a stated margin, and of which
that can be said with 95 % confidence (two one-sided t tests after Welch).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance

from trainera.errors import Status, UserError
from trainera.verify.trace import Worker

MARGIN = 0.1
"""Of the sequential mean. Ten per cent of a loss is about what another seed makes of it."""

_CONFIDENCE = 0.95
_LAST_PART = 0.1


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """What the test says about one quantity."""

    quantity: str
    sequential: float
    parallel: float
    low: float
    high: float
    """Between these lies the difference of the means, with 90 % confidence."""
    margin: float
    seeds: int

    @property
    def holds(self) -> bool:
        """Whether the difference is shown to be within the margin."""
        return -self.margin < self.low and self.high < self.margin

    @property
    def fails(self) -> bool:
        """Whether the difference is shown to be beyond the margin."""
        return self.low > self.margin or self.high < -self.margin

    def __str__(self) -> str:
        return (
            f"{self.quantity} over {self.seeds} seeds: sequential {self.sequential:.6g}, parallel "
            f"{self.parallel:.6g}, difference {self.low:+.3g} … {self.high:+.3g} (90 % "
            f"confidence), margin ±{self.margin:.3g}"
        )


def final_loss(workers: Sequence[Worker]) -> float:
    """The mean loss of the last steps: one step alone depends on the luck of a batch."""
    steps = min(len(worker.steps) for worker in workers)
    first = steps - max(1, round(steps * _LAST_PART))
    return fmean(
        sum(worker.steps[number].losses) for worker in workers for number in range(first, steps)
    )


def equivalence(quantity: str, ones: Sequence[float], others: Sequence[float]) -> Equivalence:
    """Tests whether two samples of results have means within the margin."""
    try:
        from scipy.stats import t as student
    except ImportError as error:
        raise UserError(
            "comparing by seeds needs scipy, which is not installed: "
            "pip install 'trainera[report]'",
            Status.FAILED,
        ) from error
    mean, other_mean = fmean(ones), fmean(others)
    parts = [variance(values) / len(values) for values in (ones, others)]
    spread = sqrt(sum(parts))
    freedom = 1.0
    if spread:
        terms = [
            part**2 / (len(values) - 1) for part, values in zip(parts, (ones, others), strict=True)
        ]
        freedom = sum(parts) ** 2 / sum(terms)
    reach = float(student.ppf(_CONFIDENCE, freedom)) * spread
    difference = other_mean - mean
    return Equivalence(
        quantity=quantity,
        sequential=mean,
        parallel=other_mean,
        low=difference - reach,
        high=difference + reach,
        margin=MARGIN * abs(mean),
        seeds=len(ones),
    )
