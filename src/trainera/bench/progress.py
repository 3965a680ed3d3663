"""What is under way and how long it will still take."""

from collections.abc import Iterable, Sequence
from statistics import median

from trainera.bench.design import Run
from trainera.results import Result

_GUESS_S = 15.0
"""For a run of which nothing is known yet: mostly start-up, as small workloads are."""

Cell = tuple[str, str, tuple[tuple[str, str], ...]]


class Progress:
    """Counts runs and learns from each how long those like it take."""

    def __init__(self, planned: Sequence[Run], known: Iterable[Result]) -> None:
        self._left = list(planned)
        self._total = len(planned)
        self._number = 0
        self._seen_s: dict[Cell, list[float]] = {}
        for result in known:
            self._learn(result)

    def before(self, run: Run) -> str:
        self._number += 1
        name = " ".join([run.subject.name, run.strategy.name, *map(" ".join, run.setting.items())])
        kind = "" if run.kind == "timed" else f" ({run.kind})"
        return f"[{self._number}/{self._total}] {name}{kind}, {duration(self.left_s())} left in all"

    def after(self, run: Run, result: Result) -> str:
        self._left.remove(run)
        self._learn(result)
        if result.state != "done":
            lines = [line for line in result.message.splitlines() if any(map(str.isalpha, line))]
            return f"    {result.state}: {lines[-1].strip() if lines else 'no reason given'}"
        parts = [] if result.time_s is None else [f"{result.time_s:.2f} s"]
        if result.metric is not None:
            parts.append(f"{result.metric_name} {result.metric:g}")
        elif run.subject.metric:
            parts.append(f"no line of its output matches '{run.subject.metric}'")
        return f"    {', '.join(parts)}"

    def skip(self, run: Run) -> None:
        """Takes a run off the list that is not made."""
        self._number += 1
        self._left.remove(run)

    def left_s(self) -> float:
        return estimated_s(self._left, self._seen_s)

    def _learn(self, result: Result) -> None:
        if result.wall_s is not None:
            cell = (result.workload, result.strategy, tuple(result.setting.items()))
            self._seen_s.setdefault(cell, []).append(result.wall_s)


def estimated_s(runs: Iterable[Run], seen_s: dict[Cell, list[float]]) -> float:
    """How long runs will take, by those like them, else by those of the same workload."""
    by_workload: dict[str, list[float]] = {}
    for (workload, _, _), times_s in seen_s.items():
        by_workload.setdefault(workload, []).extend(times_s)
    return sum(
        median(seen_s.get(run.cell) or by_workload.get(run.subject.name) or [_GUESS_S])
        for run in runs
    )


def duration(seconds: float) -> str:
    """``45 s``, ``12 min``, ``3 h 20 min``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
