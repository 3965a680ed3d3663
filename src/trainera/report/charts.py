"""The charts of a comparison, drawn by altair into SVG that needs nothing else.

Each is drawn twice, for a wide and for a narrow screen, because text that shrinks with its picture
cannot be read on a phone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from trainera.bench.summary import Comparison, Row
from trainera.report import parts
from trainera.results import Result

PHASES = ("data", "compile", "forward", "backward", "optimizer", "step", "other")
"""Of PyTorch and of Keras, which takes a step as one."""
PHASE_TITLES = {"backward": "backward and communication"}


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A drawn chart."""

    name: str
    title: str
    note: str
    wide: str
    narrow: str
    marks: int
    """How many bars, points or lines show data."""


@dataclass(frozen=True, kw_only=True)
class _Drawing:
    """What to draw at a width; None at any if there is nothing to show."""

    name: str
    title: str
    note: str
    marks: int
    draw: Callable[[int], Any]


def charts(comparison: Comparison) -> tuple[Chart, ...]:
    """All charts for which there are figures."""
    if not comparison.rows:
        return ()
    found = []
    for make in (_speedup, _efficiency, _phases, _metric, _power, _energy, _edp, _pareto):
        drawing = make(comparison)
        if drawing is not None:
            found.append(
                Chart(
                    name=drawing.name,
                    title=drawing.title,
                    note=drawing.note,
                    wide=parts.svg(drawing.draw(parts.WIDE)),
                    narrow=parts.svg(drawing.draw(parts.NARROW)),
                    marks=drawing.marks,
                )
            )
    return tuple(found)


def _speedup(comparison: Comparison) -> _Drawing:
    data = [
        {
            "strategy": row.strategy,
            "speedup": row.speedup.value,
            "low": row.speedup.low if row.speedup.low is not None else row.speedup.value,
            "high": row.speedup.high if row.speedup.high is not None else row.speedup.value,
        }
        for row in comparison.rows
    ]
    known = "Medians; the line is the 95 % interval."
    spread = known if comparison.has_intervals else "Too few runs for intervals."

    def draw(width: int) -> Any:
        import altair

        base = parts.base(altair, data).encode(y=parts.strategy_axis(altair, comparison))
        bars = base.mark_bar(height={"band": 0.6}).encode(
            x=altair.X("speedup:Q", title=f"times as fast as {comparison.reference}"),
            color=parts.colour(altair, comparison),
        )
        error = base.mark_rule(strokeWidth=2).encode(
            x=altair.X("low:Q", title=""), x2="high:Q", color=altair.value("#222")
        )
        return (bars + error).properties(width=width, height=parts.height_of(len(data)))

    return _Drawing(
        name="speedup",
        title="Speed-up",
        note=f"{spread} Training, validation and test.",
        marks=len(data),
        draw=draw,
    )


def _efficiency(comparison: Comparison) -> _Drawing | None:
    data = []
    for row in comparison.rows:
        if row.train_efficiency is not None:
            part = {"strategy": row.strategy, "part": "training", "value": row.train_efficiency}
            data.append(part)
        data.append({"strategy": row.strategy, "part": "total", "value": row.efficiency})
    return _Drawing(
        name="efficiency",
        title="Efficiency",
        note="Speed-up divided by how many times the workers of the reference there are.",
        marks=len(data),
        draw=lambda width: parts.grouped_bars(comparison, data, "efficiency", width),
    )


def _phases(comparison: Comparison) -> _Drawing | None:
    data = [
        {
            "strategy": row.strategy,
            "phase": PHASE_TITLES.get(name, name),
            "seconds": row.phases_s[name],
            "order": PHASES.index(name),
        }
        for row in comparison.rows
        for name in PHASES
        if name in row.phases_s
    ]
    if not data:
        return None
    titles = [PHASE_TITLES.get(name, name) for name in PHASES]
    shown = [title for title in titles if any(one["phase"] == title for one in data)]

    def draw(width: int) -> Any:
        import altair

        return (
            parts.base(altair, data)
            .mark_bar(height={"band": 0.6})
            .encode(
                y=parts.strategy_axis(altair, comparison),
                x=altair.X("seconds:Q", title="seconds in training steps", stack="zero"),
                color=parts.colour_legend(altair, "phase:N", shown, width, titles),
                order="order:Q",
            )
            .properties(width=width, height=parts.height_of(len(comparison.rows)))
        )

    cost = max((row.meter_s or 0.0 for row in comparison.rows), default=0.0)
    return _Drawing(
        name="phases",
        title="Where the time of a step goes",
        note=f"Of the first worker. Measuring it cost at most {cost:.3g} s of a run.",
        marks=len(data),
        draw=draw,
    )


def _metric(comparison: Comparison) -> _Drawing | None:
    data = []
    for row in comparison.rows:
        runs = [one for one in _timed(comparison, row) if one.epochs]
        for epoch in range(min((len(one.epochs) for one in runs), default=0)):
            values = [one.epochs[epoch].metric for one in runs]
            known = [value for value in values if value is not None]
            if known:
                point = {"strategy": row.strategy, "epoch": epoch + 1, "value": fmean(known)}
                data.append(point)
    if not data:
        return None
    lines = len({one["strategy"] for one in data})
    name = comparison.metric_name or "figure of merit"
    return _Drawing(
        name="metric",
        title=f"{name.capitalize()} by epoch",
        note="Mean of the runs.",
        marks=lines,
        draw=lambda width: parts.lines_over(comparison, data, "epoch", "epoch", name, width),
    )


def _power(comparison: Comparison) -> _Drawing | None:
    data = []
    for row in comparison.rows:
        run = next(
            (one for one in comparison.results if one.strategy == row.strategy and one.power), None
        )
        if run is None or run.power is None:
            continue
        counted = {one.device for one in run.energy if one.part != "memory"}
        series = [watts for name, watts in run.power.devices.items() if name in counted]
        for number, together in enumerate(zip(*series, strict=False)):
            minute = number * run.power.interval_s / 60
            point = {"strategy": row.strategy, "minute": minute, "value": sum(together)}
            data.append(point)
    if not data:
        return None
    return _Drawing(
        name="power",
        title="Power over time",
        note="Processors and GPUs of the machine, idle ones too; the first energy run of each.",
        marks=len({one["strategy"] for one in data}),
        draw=lambda width: parts.lines_over(comparison, data, "minute", "minutes", "watts", width),
    )


def _energy(comparison: Comparison) -> _Drawing | None:
    data = []
    for row in comparison.rows:
        if row.energy_j is not None and row.energy_with_idle_j is not None:
            used = {"strategy": row.strategy, "part": "devices used", "value": row.energy_j / 1e3}
            idle = {"strategy": row.strategy, "part": "with idle ones"}
            data += [used, {**idle, "value": row.energy_with_idle_j / 1e3}]
    if not data:
        return None
    source = " and ".join(sorted({row.energy_source for row in comparison.rows} - {""}))
    return _Drawing(
        name="energy",
        title="Energy",
        note=f"Processors and GPUs of a whole run, {source}.",
        marks=len(data),
        draw=lambda width: parts.grouped_bars(comparison, data, "kilojoules", width),
    )


def _edp(comparison: Comparison) -> _Drawing | None:
    data = []
    for row in comparison.rows:
        if row.edp is not None and row.edp_with_idle is not None:
            used = {"strategy": row.strategy, "part": "devices used", "value": row.edp}
            data += [used, {**used, "part": "with idle ones", "value": row.edp_with_idle}]
    if not data:
        return None
    return _Drawing(
        name="edp",
        title="Energy-delay product",
        note=f"Relative to {comparison.reference}; less is better.",
        marks=len(data),
        draw=lambda width: parts.grouped_bars(comparison, data, "energy × time, relative", width),
    )


def _pareto(comparison: Comparison) -> _Drawing | None:
    points = [
        {"strategy": row.strategy, "seconds": row.time_s.value, "kilojoules": row.energy_j / 1e3}
        for row in comparison.rows
        if row.energy_j is not None
    ]
    if len(points) < 2:
        return None
    shown = [str(one["strategy"]) for one in points]
    front = pareto_front([(one["seconds"], one["kilojoules"]) for one in points])  # type: ignore[misc]

    def draw(width: int) -> Any:
        import altair

        line = parts.base(altair, [{"s": s, "j": j} for s, j in front])
        scatter = parts.base(altair, points).mark_point(size=110, filled=True)
        logarithmic = altair.Scale(type="log", nice=False, padding=15)
        return (
            line.mark_line(color="#888", strokeDash=[4, 3]).encode(x="s:Q", y="j:Q")
            + scatter.encode(
                x=altair.X("seconds:Q", title="seconds", scale=logarithmic),
                y=altair.Y("kilojoules:Q", title="kilojoules", scale=logarithmic),
                color=parts.colour_legend(
                    altair, "strategy:N", shown, width, parts.strategy_names(comparison)
                ),
                shape=altair.Shape("strategy:N", sort=shown, legend=None),
            )
        ).properties(width=width, height=260)

    return _Drawing(
        name="pareto",
        title="Time against energy",
        note="Along the dashed line nothing is better in both.",
        marks=len(points),
        draw=draw,
    )


def pareto_front(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """The points that no other beats in both, from the fastest on."""
    front: list[tuple[float, float]] = []
    for point in sorted(points):
        if not front or point[1] < front[-1][1]:
            front.append(point)
    return front


def _timed(comparison: Comparison, row: Row) -> list[Result]:
    return [
        one
        for one in comparison.results
        if one.strategy == row.strategy and one.kind == "timed" and one.state == "done"
    ]
