"""From runs to the figures of a report: one row a strategy, compared with the reference."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from statistics import fmean, median

from trainera.bench.statistics import (
    Estimate,
    difference,
    median_with_interval,
    ratio,
)
from trainera.bench.strategies import ANOTHER
from trainera.results import Result

SEQUENTIAL = "sequential"
_LOW = ("perplexity", "loss", "error")
_LOW_SHORT = frozenset("bpc bpd cer err fid mae mape mse nll ppl rmse wer".split())
_WORDS = re.compile("[a-z]+")


@dataclass(frozen=True, kw_only=True)
class Row:
    """One strategy on one workload."""

    strategy: str
    workers: int
    reference_workers: int
    batch: str
    another: str
    """Why it is another training than the script's by nature, if it is."""
    runs: int
    time_s: Estimate
    train_s: Estimate | None
    speedup: Estimate
    """Against the reference, total."""
    train_speedup: Estimate | None
    """Against the reference, training part only."""
    one_worker_speedup: Estimate | None
    """Against one worker under the same engine, total."""
    wall_s: float | None
    samples_per_s: float | None
    metric: float | None
    """The mean: a median would hide trainings that fail now and then."""
    metric_change: Estimate | None
    """Against the reference; positive is more."""
    time_to_target_s: float | None
    peak_memory_bytes: tuple[int, ...]
    phases_s: Mapping[str, float]
    meter_s: float | None
    energy_j: float | None
    energy_with_idle_j: float | None
    energy_source: str
    edp: float | None
    """Normalised: the reference has 1."""
    edp_with_idle: float | None

    @property
    def efficiency(self) -> float:
        """Speed-up by the number of workers for each that the reference has."""
        return self.speedup.value * self.reference_workers / self.workers

    @property
    def train_efficiency(self) -> float | None:
        if self.train_speedup is None:
            return None
        return self.train_speedup.value * self.reference_workers / self.workers


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """All strategies on one workload in one setting of the other factors."""

    workload: str
    framework: str
    task: str
    """What it has in common with other workloads; empty for scripts of users."""
    setting: Mapping[str, str]
    reference: str
    data: str
    metric_name: str
    target: float | None
    rows: tuple[Row, ...]
    results: tuple[Result, ...] = field(repr=False)
    """All runs, also those that are in no row."""

    @property
    def title(self) -> str:
        levels = ", ".join(f"{name} {level}" for name, level in self.setting.items())
        return f"{self.workload}, {levels}" if levels else self.workload

    @property
    def has_intervals(self) -> bool:
        """Whether there were runs enough; the reference against itself is 1, however few."""
        others = [row for row in self.rows if row.strategy != self.reference]
        return any(row.speedup.low is not None for row in others)

    def row(self, strategy: str) -> Row:
        return next(row for row in self.rows if row.strategy == strategy)


def compare(results: Iterable[Result], reference: str | None = None) -> tuple[Comparison, ...]:
    """Every workload and setting by itself, in the order in which they first come.

    The reference is the sequential run, or the first strategy where there is none.
    """
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[Result]] = {}
    for result in results:
        if result.kind != "warm-up":
            key = (result.workload, tuple(sorted(result.setting.items())))
            groups.setdefault(key, []).append(result)
    return tuple(
        _compare(workload, dict(setting), tuple(runs), reference)
        for (workload, setting), runs in groups.items()
    )


def lower_is_better(metric_name: str) -> bool:
    """Perplexities, losses and errors are better when they are low."""
    name = metric_name.lower()
    return any(word in name for word in _LOW) or not _LOW_SHORT.isdisjoint(_WORDS.findall(name))


def _compare(
    workload: str, setting: dict[str, str], results: tuple[Result, ...], wanted: str | None
) -> Comparison:
    by_strategy: dict[str, list[Result]] = {}
    for result in results:
        if result.state == "done":
            by_strategy.setdefault(result.strategy, []).append(result)
    timed = {name: _timed(runs) for name, runs in by_strategy.items() if _timed(runs)}
    names = list(timed)
    if SEQUENTIAL in timed:  # ours come in random order, published ones in their own
        names.sort(
            key=lambda name: (name != SEQUENTIAL, name.partition(" ")[0], _size(timed, name))
        )
    reference = wanted if wanted in timed else SEQUENTIAL
    if reference not in timed:
        reference = names[0] if names else ""
    metric_name = next((one.metric_name for one in results if one.metric_name), "")
    target = _target(timed.get(reference, ()), metric_name)
    return Comparison(
        workload=workload,
        framework=results[0].framework,
        task=results[0].task,
        setting=setting,
        reference=reference,
        data=", ".join(sorted({one.data for one in results if one.data})),
        metric_name=metric_name,
        target=target,
        rows=tuple(
            _row(name, timed, by_strategy, reference, target, metric_name) for name in names
        ),
        results=results,
    )


def _size(timed: Mapping[str, Sequence[Result]], name: str) -> tuple[int, str]:
    return timed[name][0].workers, name


def _timed(runs: Sequence[Result]) -> tuple[Result, ...]:
    return tuple(one for one in runs if one.kind == "timed" and one.time_s is not None)


def _target(reference: Sequence[Result], metric_name: str) -> float | None:
    """What the reference reaches in the middle of its runs, less a hundredth: a fair goal."""
    finals = [one.metric for one in reference if one.metric is not None and one.epochs]
    if not finals:
        return None
    return median(finals) * (1.01 if lower_is_better(metric_name) else 0.99)


def _row(
    name: str,
    timed: Mapping[str, tuple[Result, ...]],
    everything: Mapping[str, Sequence[Result]],
    reference: str,
    target: float | None,
    metric_name: str,
) -> Row:
    runs, base = timed[name], timed[reference]
    first = runs[0]
    engine = name.partition(" ")[0]
    alone = timed.get(f"{engine} 1 {ANOTHER}" if first.another else f"{engine} 1")
    metrics = _known(runs, _metric)
    energies = _energy_runs(everything[name])
    base_energies = _energy_runs(everything[reference])
    times_to = [
        one.time_to_s(target, higher_is_better=not lower_is_better(metric_name))
        for one in runs
        if target is not None and one.epochs
    ]
    reached = [one for one in times_to if one is not None]
    return Row(
        strategy=name,
        workers=first.workers,
        reference_workers=base[0].workers,
        batch=first.batch,
        another=first.another,
        runs=len(runs),
        time_s=median_with_interval(_known(runs, _time)),
        train_s=_interval(_known(runs, _train)),
        speedup=_against(base, runs, _time) or Estimate(value=1.0, runs=len(runs)),
        train_speedup=_against(base, runs, _train),
        one_worker_speedup=None if alone is None else _against(alone, runs, _time),
        wall_s=_middle(_known(runs, lambda one: one.wall_s)),
        samples_per_s=_middle(_known(runs, lambda one: one.samples_per_s)),
        metric=fmean(metrics) if metrics else None,
        metric_change=difference(_by_block(runs, _metric), _by_block(base, _metric)),
        time_to_target_s=median(reached) if reached and len(reached) == len(times_to) else None,
        peak_memory_bytes=_memory(runs),
        phases_s=_phases(runs),
        meter_s=_middle(_known(runs, lambda one: one.meter_s)),
        energy_j=_middle(_known(energies, lambda one: one.energy_j())),
        energy_with_idle_j=_middle(_known(energies, lambda one: one.energy_j(idle=True))),
        energy_source=_source(energies),
        edp=_edp(energies, base_energies, idle=False),
        edp_with_idle=_edp(energies, base_energies, idle=True),
    )


def _energy_runs(runs: Sequence[Result]) -> tuple[Result, ...]:
    """The runs that were made for it; where there are none, all that have a figure."""
    having = tuple(one for one in runs if one.energy)
    meant = tuple(one for one in having if one.kind == "energy")
    return meant or having


def _edp(runs: Sequence[Result], base: Sequence[Result], *, idle: bool) -> float | None:
    own = _known(runs, lambda one: one.edp_js(idle=idle))
    other = _known(base, lambda one: one.edp_js(idle=idle))
    return median(own) / median(other) if own and other else None


def _source(runs: Sequence[Result]) -> str:
    return " and ".join(sorted({device.source for one in runs for device in one.energy}))


def _phases(runs: Sequence[Result]) -> dict[str, float]:
    names = dict.fromkeys(name for one in runs for name in one.phases_s)
    return {name: median(one.phases_s.get(name, 0.0) for one in runs) for name in names}


def _memory(runs: Sequence[Result]) -> tuple[int, ...]:
    """The most that each worker took in any run."""
    having = [one.peak_memory_bytes for one in runs if one.peak_memory_bytes]
    return tuple(max(column) for column in zip(*having, strict=False))


def _time(one: Result) -> float | None:
    return one.time_s


def _train(one: Result) -> float | None:
    return one.train_s


def _metric(one: Result) -> float | None:
    """If it is a number: that a run has diverged is told in words."""
    return one.metric if one.metric is not None and isfinite(one.metric) else None


def _known(runs: Iterable[Result], get: Callable[[Result], float | None]) -> list[float]:
    return [value for one in runs if (value := get(one)) is not None]


def _by_block(
    runs: Iterable[Result], get: Callable[[Result], float | None]
) -> list[tuple[int, float]]:
    return [(one.block, value) for one in runs if (value := get(one)) is not None]


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None


def _interval(values: Sequence[float]) -> Estimate | None:
    return median_with_interval(values) if values else None


def _against(
    base: Sequence[Result], runs: Sequence[Result], get: Callable[[Result], float | None]
) -> Estimate | None:
    """How many times faster; a strategy against itself is 1 and nothing else."""
    numerator, denominator = (
        [(block, value) for block, value in _by_block(group, get) if value]
        for group in (base, runs)
    )
    if not numerator or not denominator:
        return None
    if base is runs:
        return Estimate(value=1.0, low=1.0, high=1.0, runs=len(runs))
    return ratio(numerator, denominator)
