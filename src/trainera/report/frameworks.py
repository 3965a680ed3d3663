"""Frameworks side by side: the same task in several of them, and how each does it in parallel."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trainera.bench.statistics import ENOUGH, ratio
from trainera.bench.summary import Comparison, Row
from trainera.report import parts
from trainera.report.charts import Chart
from trainera.report.text import DASH, figure, with_interval
from trainera.report.verdict import interval, learns_worse, times

HEADINGS = (
    "framework",
    "strategy",
    "runs",
    "time (s)",
    "of it compiling (s)",
    "speed-up",
    "samples/s",
    "{metric}",
    "memory a process (MiB)",
)
OWN_SCRIPTS = "Your scripts"


@dataclass(frozen=True, kw_only=True)
class SideBySide:
    """One task in several frameworks."""

    title: str
    text: str
    comparisons: tuple[Comparison, ...]

    @property
    def metric(self) -> str:
        return next((one.metric_name for one in self.comparisons if one.metric_name), "metric")


def side_by_side(comparisons: Sequence[Comparison]) -> tuple[SideBySide, ...]:
    """The tasks of which there are several frameworks."""
    groups: dict[tuple[str, tuple[tuple[str, str], ...]], list[Comparison]] = {}
    for one in comparisons:
        if one.rows and one.framework:
            groups.setdefault((one.task, tuple(sorted(one.setting.items()))), []).append(one)
    return tuple(
        SideBySide(title=_title(task, setting), text=_text(group), comparisons=tuple(group))
        for (task, setting), group in groups.items()
        if len({one.framework for one in group}) > 1
    )


def _title(task: str, setting: Sequence[tuple[str, str]]) -> str:
    return ", ".join([task or OWN_SCRIPTS, *(f"{name} {level}" for name, level in setting)])


def _text(group: Sequence[Comparison]) -> str:
    """The fastest strategy of each framework, and by what they are apart."""
    best = [(one, _best(one)) for one in group]
    best.sort(key=lambda pair: pair[1].time_s.value)
    (first, fastest), *others = best
    behind = []
    for one, row in others:
        longer = ratio(times(one, row), times(first, fastest))
        spread = "" if longer.low is None else f" ({interval(longer)})"
        behind.append(f"{_named(one, row)} takes {longer.value:.2f} times as long{spread}")
    few = min(row.runs for _, row in best) < ENOUGH
    return (
        f"{'So far ' if few else ''}{_named(first, fastest)} is the fastest; {', '.join(behind)}."
    )


def _best(one: Comparison) -> Row:
    """The fastest that learns as well as the reference, which learns as well as itself.

    What is another training by nature only where nothing else was measured.
    """
    fit = [row for row in one.rows if not row.another and not learns_worse(one, row)]
    return min(fit or one.rows, key=lambda row: row.time_s.value)


def _named(one: Comparison, row: Row) -> str:
    """``Keras on JAX with jax 2 (3.1 s, accuracy 0.98)``; scripts of users by their names, too."""
    name = one.framework if one.task else f"{one.workload} in {one.framework}"
    learned = "" if row.metric is None else f", {one.metric_name} {figure(row.metric)}"
    return f"{name} with {row.strategy} ({figure(row.time_s.value)} s{learned})"


def table(group: SideBySide) -> tuple[list[str], list[list[str]]]:
    """Headings and rows, without the columns in which nothing stands."""
    titles = [one.format(metric=group.metric) for one in HEADINGS]
    rows = []
    for one in group.comparisons:
        for row in one.rows:
            memory = max(row.peak_memory_bytes, default=None)
            rows.append(
                [
                    one.framework if one.task else f"{one.framework}, {one.workload}",
                    row.strategy,
                    str(row.runs),
                    figure(row.time_s.value),
                    figure(row.phases_s.get("compile")),
                    with_interval(row.speedup),
                    figure(row.samples_per_s),
                    figure(row.metric, digits=4),
                    figure(None if memory is None else memory / 2**20),
                ]
            )
    kept = [i for i in range(len(titles)) if i < 4 or any(row[i] != DASH for row in rows)]
    return [titles[i] for i in kept], [[row[i] for i in kept] for row in rows]


def chart(group: SideBySide) -> Chart:
    """The time of every strategy, in the colour of its framework."""
    frameworks = list(dict.fromkeys(one.framework for one in group.comparisons))
    data: list[dict[str, Any]] = [
        {
            "bar": f"{one.framework if one.task else one.workload}, {row.strategy}",
            "framework": one.framework,
            "seconds": row.time_s.value,
        }
        for one in group.comparisons
        for row in one.rows
    ]

    def draw(width: int) -> Any:
        import altair

        axis = altair.Axis(labelLimit=220, labelOverlap=False)
        order = [str(one["bar"]) for one in data]
        return (
            parts.base(altair, data)
            .mark_bar(height={"band": 0.6})
            .encode(
                y=altair.Y("bar:N", title=None, sort=order, axis=axis),
                x=altair.X("seconds:Q", title="seconds"),
                color=parts.colour_legend(altair, "framework:N", frameworks, width),
            )
            .properties(width=width, height=parts.height_of(len(data)))
        )

    return Chart(
        name="frameworks",
        title="Time",
        note="Medians; training, validation and test, with what is compiled on the way.",
        wide=parts.svg(draw(parts.WIDE)),
        narrow=parts.svg(draw(parts.NARROW)),
        marks=len(data),
    )
