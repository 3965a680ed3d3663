"""What a report says, apart from its form: the same content for a page, for text and for data."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from trainera import __version__
from trainera.bench.summary import Comparison, Row, compare
from trainera.report import frameworks
from trainera.report.frameworks import SideBySide, side_by_side
from trainera.report.text import DASH, figure, with_interval
from trainera.report.verdict import Verdict, judge
from trainera.results import Result


@dataclass(frozen=True, kw_only=True)
class Section:
    """One comparison and what it says."""

    comparison: Comparison
    verdict: Verdict


@dataclass(frozen=True, kw_only=True)
class Document:
    """All that a report holds."""

    title: str
    frameworks: tuple[SideBySide, ...]
    sections: tuple[Section, ...]
    results: tuple[Result, ...]
    request: Mapping[str, Any]
    machine: Mapping[str, Any]
    created: str


def document(
    title: str,
    results: Sequence[Result],
    *,
    reference: str | None = None,
    request: Mapping[str, Any] | None = None,
    machine: Mapping[str, Any] | None = None,
    created: str = "",
) -> Document:
    """The report of these runs."""
    comparisons = compare(results, reference)
    return Document(
        title=title,
        frameworks=side_by_side(comparisons),
        sections=tuple(Section(comparison=one, verdict=judge(one)) for one in comparisons),
        results=tuple(results),
        request=request or {},
        machine=machine or {},
        created=created,
    )


# Tables

HEADINGS = (
    "strategy",
    "runs",
    "time (s)",
    "speed-up",
    "efficiency",
    "training speed-up",
    "training efficiency",
    "against 1 worker",
    "samples/s",
    "{metric}",
    "time to {target} (s)",
    "memory a worker (MiB)",
    "energy (kJ)",
    "with idle (kJ)",
    "EDP",
    "EDP with idle",
)


def headings(comparison: Comparison) -> list[str]:
    target = "target" if comparison.target is None else f"{comparison.target:.3g}"
    metric = comparison.metric_name or "metric"
    return [one.format(metric=metric, target=target) for one in HEADINGS]


def cells(row: Row) -> list[str]:
    """One row of the table; a dash where nothing was measured."""
    source = " est." if row.energy_source == "estimated" else ""
    memory = max(row.peak_memory_bytes, default=None)
    return [
        row.strategy,
        str(row.runs),
        figure(row.time_s.value),
        with_interval(row.speedup),
        f"{row.efficiency:.3f}",
        with_interval(row.train_speedup),
        figure(row.train_efficiency),
        with_interval(row.one_worker_speedup),
        figure(row.samples_per_s),
        figure(row.metric, digits=4),
        figure(row.time_to_target_s),
        figure(None if memory is None else memory / 2**20),
        figure(_kilo(row.energy_j)) + (source if row.energy_j is not None else ""),
        figure(_kilo(row.energy_with_idle_j)),
        figure(row.edp),
        figure(row.edp_with_idle),
    ]


def table(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Headings and rows, without the columns in which nothing stands."""
    titles, rows = headings(comparison), [cells(row) for row in comparison.rows]
    kept = [
        number
        for number in range(len(titles))
        if number < 5 or any(row[number] != DASH for row in rows)
    ]
    return [titles[number] for number in kept], [[row[number] for number in kept] for row in rows]


def _kilo(value: float | None) -> float | None:
    return None if value is None else value / 1000


def figures(comparison: Comparison) -> dict[str, dict[str, float]]:
    """What scripts printed as figures of their own: by name, then by strategy."""
    found: dict[str, dict[str, list[float]]] = {}
    for one in comparison.results:
        if one.kind == "timed":
            for name, value in one.figures.items():
                found.setdefault(name, {}).setdefault(one.strategy, []).append(value)
    return {
        name: {strategy: sorted(values)[len(values) // 2] for strategy, values in by.items()}
        for name, by in found.items()
    }


# Other forms


def as_markdown(report: Document) -> str:
    lines = [f"# {_plain(report.title)}", ""]
    for group in report.frameworks:
        lines += [f"## {_plain(group.title)}, frameworks side by side", "", _plain(group.text), ""]
        titles, rows = frameworks.table(group)
        lines += [_row(titles), _row(["---"] * len(titles)), *map(_row, rows), ""]
    for section in report.sections:
        comparison = section.comparison
        lines += [f"## {_plain(comparison.title)}", "", f"**{_plain(section.verdict.text)}**", ""]
        lines += [f"- {_plain(remark)}" for remark in section.verdict.remarks]
        if section.verdict.remarks:
            lines.append("")
        titles, rows = table(comparison)
        lines += [_row(titles), _row(["---"] * len(titles)), *map(_row, rows), ""]
        for name, by in figures(comparison).items():
            values = ", ".join(f"{strategy} {value:g}" for strategy, value in by.items())
            lines.append(f"- {_plain(name)}: {_plain(values)}")
    return "\n".join(lines).rstrip() + "\n"


def as_csv(report: Document) -> str:
    """One row a run: the raw figures."""
    phases = sorted({name for one in report.results for name in one.phases_s})
    levels = sorted({name for one in report.results for name in one.setting})
    plain = (
        "workload framework strategy workers batch kind block state data wall_s total_s train_s "
        "validation_s test_s samples samples_per_s metric_name metric meter_s"
    ).split()
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    derived = ["peak_memory_bytes", "energy_j", "energy_with_idle_j", "energy_source"]
    derived.append("another_training")
    writer.writerow([*plain, *levels, *(f"{name}_s" for name in phases), *derived])
    for one in report.results:
        sources = sorted({device.source for device in one.energy})
        writer.writerow(
            [
                *(getattr(one, name) for name in plain),
                *(one.setting.get(name, "") for name in levels),
                *(one.phases_s.get(name, "") for name in phases),
                max(one.peak_memory_bytes, default=""),
                one.energy_j(),
                one.energy_j(idle=True),
                " ".join(sources),
                one.another,
            ]
        )
    return file.getvalue()


def as_json(report: Document) -> str:
    """Everything, to be read by programs."""
    return json.dumps(
        _without_nan({
            "trainera": __version__,
            "title": report.title,
            "created": report.created,
            "machine": report.machine,
            "request": report.request,
            "frameworks": [
                {"task": group.title, "text": group.text} for group in report.frameworks
            ],
            "verdicts": [
                {
                    "workload": section.comparison.title,
                    "outcome": section.verdict.outcome,
                    "best": section.verdict.best,
                    "text": section.verdict.text,
                    "remarks": section.verdict.remarks,
                }
                for section in report.sections
            ],
            "results": [one.as_data() for one in report.results],
        }),
        indent=1,
    )  # fmt: skip


def _without_nan(value: Any) -> Any:
    """JSON has no word for what is no number."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(map(_plain, values))} |"


def _plain(text: str) -> str:
    """Text that Markdown takes for text."""
    for letter in "\\`*_<>|[]#":
        text = text.replace(letter, f"\\{letter}")
    return text.replace("\n", " ")
