"""Medians and the intervals around their ratios. Nothing here knows what was measured."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, Literal

ENOUGH = 5
"""Repetitions before a difference is believed."""
CONFIDENCE = 0.95
_RESAMPLES = 4999
_SEED = 20240607
"""Fixed, so that a report says the same thing twice."""


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A figure with its interval; without one if there were too few runs to give any."""

    value: float
    low: float | None = None
    high: float | None = None
    runs: int = 1

    def excludes(self, figure: float) -> bool:
        """Whether the interval lies wholly on one side of a figure, from enough runs."""
        if self.low is None or self.high is None or self.runs < ENOUGH:
            return False
        return self.low > figure or self.high < figure


def ratio(first: Sequence[tuple[int, float]], second: Sequence[tuple[int, float]]) -> Estimate:
    """How many times the second the first is, from figures that each know their block.

    Where both have one figure a block, it is the median of the blocks' own ratios: what slowed
    the machine down for a while slowed down both. Else it is the ratio of the medians.
    """
    one, other = dict(first), dict(second)
    if len(one) == len(first) and len(other) == len(second) and one.keys() & other.keys():
        return median_with_interval([one[block] / other[block] for block in one if block in other])
    return ratio_of_medians([value for _, value in first], [value for _, value in second])


def difference(
    first: Sequence[tuple[int, float]], second: Sequence[tuple[int, float]]
) -> Estimate | None:
    """How much more the mean of the first is, from figures that each know their block.

    Where both have one figure a block, which then are of one seed, block by block.
    """
    if not first or not second:
        return None
    one, other = dict(first), dict(second)
    if len(one) == len(first) and len(other) == len(second) and one.keys() == other.keys():
        return mean_with_interval([one[block] - other[block] for block in one])
    return difference_of_means([value for _, value in first], [value for _, value in second])


def ratio_of_medians(numerator: Sequence[float], denominator: Sequence[float]) -> Estimate:
    """The ratio of two medians with its bootstrap interval (percentiles, 95 %).

    Runs of one are resampled apart from runs of the other. `runs` is the smaller number of both.
    """
    return _bootstrap(numerator, denominator, ratio=True)


def difference_of_means(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """The difference of two means with its bootstrap interval.

    For accuracies: a training that fails now and then must be seen, and a median hides it.
    """
    return _bootstrap(first, second, ratio=False)


def median_with_interval(values: Sequence[float]) -> Estimate:
    """A median with its bootstrap interval."""
    return _of_one(values, "median")


def mean_with_interval(values: Sequence[float]) -> Estimate:
    """A mean with its bootstrap interval."""
    return _of_one(values, "mean")


def _of_one(values: Sequence[float], statistic: Literal["mean", "median"]) -> Estimate:
    value = fmean(values) if statistic == "mean" else median(values)
    if len(values) < 2:
        return Estimate(value=value, runs=len(values))
    import numpy
    from scipy.stats import bootstrap

    done = bootstrap(
        (values,),
        getattr(numpy, statistic),
        n_resamples=_RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=True,
        rng=numpy.random.default_rng(_SEED),
    ).confidence_interval
    return Estimate(value=value, low=float(done.low), high=float(done.high), runs=len(values))


def _bootstrap(first: Sequence[float], second: Sequence[float], *, ratio: bool) -> Estimate:
    runs = min(len(first), len(second))
    value = median(first) / median(second) if ratio else fmean(first) - fmean(second)
    if runs < 2:
        return Estimate(value=value, runs=runs)
    import numpy
    from scipy.stats import bootstrap

    def statistic(one: Any, other: Any, axis: int) -> Any:
        if ratio:
            return numpy.median(one, axis=axis) / numpy.median(other, axis=axis)
        return numpy.mean(one, axis=axis) - numpy.mean(other, axis=axis)

    done = bootstrap(
        (first, second),
        statistic,
        n_resamples=_RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        vectorized=True,
        rng=numpy.random.default_rng(_SEED),
    ).confidence_interval
    return Estimate(value=value, low=float(done.low), high=float(done.high), runs=runs)
