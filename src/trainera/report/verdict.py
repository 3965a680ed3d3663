"""The sentence at the top of a report: which strategy to use, by what margin, or that none is."""

from dataclasses import dataclass
from math import isfinite
from textwrap import shorten
from typing import Literal

from trainera.bench.statistics import ENOUGH, Estimate, ratio
from trainera.bench.summary import Comparison, Row, lower_is_better
from trainera.results import Result

Outcome = Literal["winner", "close", "few", "single", "none"]

IMPOSSIBLE = 1.2
"""No number of workers does more than its share; what is above that is noise, or worse."""
WORSE = 0.01
"""A figure of merit that is worse by less than this part of it is taken to be as good."""
_REASON_WIDTH = 200


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a comparison says."""

    outcome: Outcome
    text: str
    best: str = ""
    remarks: tuple[str, ...] = ()
    """What else a reader must know before following it."""


def judge(comparison: Comparison) -> Verdict:
    """The fastest strategy that learns as well as the reference, if one is clearly the fastest."""
    rows = sorted(comparison.rows, key=lambda row: row.time_s.value)
    remarks = tuple(_remarks(comparison))
    if not rows:
        return Verdict(outcome="none", text="No run came to a good end.", remarks=remarks)
    if len(rows) == 1:
        text = f"Only {rows[0].strategy} was measured, so there is nothing to compare."
        return Verdict(outcome="single", text=text, remarks=remarks)
    own = [row for row in rows if not row.another]
    fit = [row for row in own if not learns_worse(comparison, row)]
    if not fit:
        text = "No winner is named: all that was measured is another training than the script's."
        return Verdict(outcome="none", text=text, remarks=remarks)
    worse = [row for row in own if row not in fit and row.time_s.value < fit[0].time_s.value]
    remarks += tuple(_warning(comparison, row) for row in worse)
    best = fit[0]
    few = [row for row in fit if row.runs < ENOUGH]
    rivals = [row for row in fit[1:] if row not in few]
    if best not in few and not rivals and len(fit) == 1:
        others = {"learn worse" for row in own if row not in fit}
        others |= {"are another training" for row in rows if row.another}
        text = f"Use {best.strategy}: all others {' or '.join(sorted(others, reverse=True))}."
        return Verdict(outcome="winner", text=text, best=best.strategy, remarks=remarks)
    if best in few or not rivals:
        text = (
            f"No winner is named: {ENOUGH} runs of a strategy are needed, and there "
            f"{_were(min(row.runs for row in own))}. So far {best.strategy} was the fastest"
            f"{_but_behind(comparison, best)}."
        )
        return Verdict(outcome="few", text=text, best=best.strategy, remarks=remarks)
    remarks += tuple(f"{row.strategy} is not judged: there {_were(row.runs)} of it." for row in few)
    if _were_held_up(comparison):
        text = (
            "No winner is named: these times cannot all be right. So far "
            f"{best.strategy} was the fastest{_but_behind(comparison, best)}."
        )
        return Verdict(outcome="few", text=text, best=best.strategy, remarks=remarks)
    close = [rival for rival in rivals if not _leads(_margin(comparison, rival, best))]
    if close:
        names = _listed([best.strategy, *(row.strategy for row in close)])
        text = f"Too close to call between {names}: their times differ by less than chance does."
        return Verdict(outcome="close", text=text, best=best.strategy, remarks=remarks)
    margin = _margin(comparison, rivals[0], best)
    text = (
        f"Use {best.strategy}{_gain(comparison, best)}{_but_behind(comparison, best)}; the next, "
        f"{rivals[0].strategy}, takes {percent(margin.value - 1)} longer "
        f"({interval(margin, minus=1.0, as_percent=True)})."
    )
    return Verdict(outcome="winner", text=text, best=best.strategy, remarks=remarks)


def learns_worse(comparison: Comparison, row: Row) -> bool:
    """Whether it ends clearly behind the reference in accuracy or perplexity."""
    if diverged(comparison, row):
        return True
    change = row.metric_change
    if change is None or row.metric is None or not change.excludes(0.0):
        return False
    behind = change.value if lower_is_better(comparison.metric_name) else -change.value
    return behind > WORSE * abs(row.metric - change.value)


def diverged(comparison: Comparison, row: Row) -> bool:
    """Whether some of its runs came to no figure, or to none that is a number, and others did."""
    finite = {}
    for one in (row.strategy, comparison.reference):
        runs = [run for run in comparison.results if _counts(run) and run.strategy == one]
        finite[one] = [run.metric is not None and isfinite(run.metric) for run in runs]
    return all(finite[comparison.reference]) and not all(finite[row.strategy])


def _but_behind(comparison: Comparison, row: Row) -> str:
    """What there are too few runs to judge by, but a reader must not miss."""
    change = row.metric_change
    if change is None or row.metric is None:
        return ""
    behind = change.value if lower_is_better(comparison.metric_name) else -change.value
    before = row.metric - change.value
    if behind <= WORSE * abs(before):
        return ""
    return f", with {comparison.metric_name} {row.metric:.4g} instead of {before:.4g}"


def _margin(comparison: Comparison, slower: Row, faster: Row) -> Estimate:
    return ratio(times(comparison, slower), times(comparison, faster))


def _leads(margin: Estimate) -> bool:
    """Clearly, and the right way round: medians and ratios block by block may disagree."""
    return margin.excludes(1.0) and margin.value > 1.0


def times(comparison: Comparison, row: Row) -> list[tuple[int, float]]:
    """Those of a strategy, by block."""
    return [
        (one.block, one.time_s)
        for one in comparison.results
        if _counts(one) and one.strategy == row.strategy and one.time_s is not None
    ]


def _counts(one: Result) -> bool:
    return one.kind == "timed" and one.state == "done"


def _gain(comparison: Comparison, row: Row) -> str:
    if row.strategy == comparison.reference:
        return ""
    gain = row.speedup
    return (
        f": {gain.value:.2f} times as fast as {comparison.reference}"
        f"{f' ({interval(gain)})' if gain.low is not None else ''}"
    )


def _warning(comparison: Comparison, row: Row) -> str:
    if diverged(comparison, row):
        return (
            f"{row.strategy} was faster still, but not all of its runs came to a figure: training "
            "may have diverged."
        )
    change = row.metric_change
    assert change is not None
    spread = interval(change)
    if change.low == change.high:
        spread = "in all runs alike, as they have one seed: see --seed-argument"
    return (
        f"{row.strategy} was faster still, but it learns worse: its {comparison.metric_name} "
        f"changes by {change.value:+.3g} ({spread})."
    )


def _remarks(comparison: Comparison) -> list[str]:
    found = []
    found += [
        f"{row.strategy} does not stand for the script, whatever its time and "
        f"{comparison.metric_name or 'accuracy'}: {row.another}."
        for row in comparison.rows
        if row.another
    ]
    if comparison.data == "generated":
        found.append("The data were generated: accuracies say little.")
    if _were_held_up(comparison):
        found.append(
            f"An efficiency above {IMPOSSIBLE:g} says that the runs of {comparison.reference} were "
            "held up, by other load or by threads that wait for each other: measure on an idle "
            "machine, or with --threads 1."
        )
    if len(comparison.rows) > 1 and all(row.metric is None for row in comparison.rows):
        found.append(
            "No accuracy or other figure was found in what the runs print, so whether they learn "
            "as well is not compared: see --metric."
        )
    for state in ("failed", "refused"):
        mishaps: dict[str, set[str]] = {}
        for one in comparison.results:
            if one.state == state:
                mishaps.setdefault(_last_line(one.message), set()).add(one.strategy)
        for reason, names in mishaps.items():
            found.append(f"{state.capitalize()}: {_listed(sorted(names))}{reason}.")
    return found


def _were_held_up(comparison: Comparison) -> bool:
    """Whether figures cannot be right; what was not measured here may be of other devices."""
    measured_here = any(one.peak_memory_bytes for one in comparison.results)
    return measured_here and any(
        row.efficiency > IMPOSSIBLE for row in comparison.rows if not row.another
    )


def _last_line(message: str) -> str:
    """What a traceback comes down to, in parentheses."""
    lines = message.strip().splitlines()
    return f" ({shorten(lines[-1], _REASON_WIDTH, placeholder=' …').rstrip('.')})" if lines else ""


def _were(runs: int) -> str:
    return "was 1 run" if runs == 1 else f"were {runs} runs"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def percent(part: float) -> str:
    return f"{part * 100:.0f} %" if abs(part) >= 0.095 else f"{part * 100:.1f} %"


def interval(figure: Estimate, *, minus: float = 0.0, as_percent: bool = False) -> str:
    """``1.75 to 1.82``; a plain word where there are too few runs."""
    if figure.low is None or figure.high is None:
        return "no interval"
    low, high = figure.low - minus, figure.high - minus
    if as_percent:
        return f"95 % interval {percent(low)} to {percent(high)}"
    return f"95 % interval {low:.3g} to {high:.3g}"
