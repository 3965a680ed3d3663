"""The verdict as one page that works offline: both loss curves, and how far they are apart."""

from html import escape
from pathlib import Path
from typing import Any

from trainera.errors import Status, UserError
from trainera.verify import tolerance as tolerances
from trainera.verify.verdict import Verdict

_MOST_POINTS = 1_500
_SMALLEST = 1e-17
"""What is drawn for two losses that are equal: a logarithm has no nought."""

_COLOURS = {"EQUIVALENT": "#00664f", "DIFFERENT": "#a33b00", "UNDECIDED": "#6b5900"}

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem;
       color: #1b1b1b; background: #fff }
h1 { font-size: 1.6rem; margin: 0 } h1 span { color: #fff; padding: .1em .5em; border-radius: .2em }
table { border-collapse: collapse; margin: 1rem 0 } td, th { text-align: left; padding: .2rem 1rem
       .2rem 0; border-bottom: 1px solid #ddd; vertical-align: top } pre { white-space: pre-wrap;
       overflow-wrap: anywhere } svg { max-width: 100%; height: auto } figcaption { color: #444 }
figure { margin: 2rem 0 }
"""


def write_page(verdict: Verdict, path: Path) -> None:
    """Writes the page, whole or not at all."""
    draft = path.with_name(f".{path.name}.draft")
    draft.write_text(page(verdict), encoding="utf-8")
    draft.replace(path)


def page(verdict: Verdict) -> str:
    """The page's source."""
    outcome = verdict.outcome.value
    figures = _figures(verdict) if verdict.curve.parallel else ""
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{outcome}: {escape(verdict.script)}</title><style>{_STYLE}</style></head><body>
<h1><span style="background:{_COLOURS[outcome]}">{outcome}</span> {escape(verdict.script)}</h1>
<pre>{escape(verdict.reason)}</pre>
{_cause(verdict)}{figures}{_agreement(verdict)}{_facts(verdict)}
</body></html>
"""


def _cause(verdict: Verdict) -> str:
    if verdict.first is None:
        return ""
    first = verdict.first
    rows = [("first difference", first.quantity), ("sequential", first.sequential),
            ("parallel", first.parallel)]  # fmt: skip
    if first.step is not None:
        rows.insert(1, ("step", str(first.step)))
    if first.where:
        rows.insert(1, ("where", first.where))
    if verdict.diagnosis is not None:
        rows += [("likely cause", verdict.diagnosis.text), ("what to do", verdict.diagnosis.do)]
    rows += [("waiting", place) for place in verdict.waiting]
    return _table(rows)


def _agreement(verdict: Verdict) -> str:
    if not verdict.largest:
        return ""
    body = "".join(
        f"<tr><td>{escape(one.quantity)}<td>{one.compared}<td>{one.relative:.1e}</tr>"
        for one in verdict.largest
    )
    head = "<tr><th>agreed<th>values compared<th>largest relative difference</tr>"
    return f"<table>{head}{body}</table>"


def _facts(verdict: Verdict) -> str:
    rows = [
        ("engine", verdict.engine),
        ("workers", str(verdict.workers)),
        ("samples learned from, by worker", ", ".join(map(str, verdict.rows))),
        ("steps", str(verdict.steps)),
        ("precision", verdict.dtype),
        ("tolerance", verdict.tolerance),
        ("time", f"sequential {verdict.sequential_s:.1f} s, parallel {verdict.parallel_s:.1f} s"),
    ]
    return _table([*rows, *(("note", note) for note in verdict.notes)])


def _table(rows: list[tuple[str, str]]) -> str:
    body = "".join(
        f"<tr><th>{escape(name)}<td>{escape(value)}</tr>" for name, value in rows if value
    )
    return f"<table>{body}</table>"


def _data(values: list[dict[str, Any]]) -> Any:
    import altair

    return altair.Data(values=values)  # type: ignore[no-untyped-call]


def _figures(verdict: Verdict) -> str:
    """Two charts, the second on a logarithmic scale, where rounding and mistakes lie far apart."""
    try:
        import altair
        import vl_convert
    except ImportError as error:
        raise UserError(
            f"charts need {error.name}, which is not installed: pip install 'trainera[report]'",
            Status.FAILED,
        ) from error
    ones, others = verdict.curve.sequential, verdict.curve.parallel
    stride = max(1, len(ones) // _MOST_POINTS)
    losses: list[dict[str, Any]] = []
    gaps: list[dict[str, Any]] = []
    for step in range(0, len(ones), stride):
        losses.append({"step": step, "loss": ones[step], "run": "sequential"})
        if step < len(others):
            losses.append({"step": step, "loss": others[step], "run": "parallel"})
            size = max(abs(ones[step]), abs(others[step])) or 1.0
            gap = max(_SMALLEST, abs(ones[step] - others[step]) / size)
            limit_here = tolerances.for_dtype(verdict.dtype).at(step)
            gaps.append({"step": step, "relative difference": gap, "tolerance": limit_here})
    steps = altair.X("step:Q", title="optimizer step", axis=altair.Axis(tickMinStep=1, format="d"))
    dashes = altair.Scale(domain=["sequential", "parallel"], range=[[1, 0], [6, 5]])
    colours = altair.Scale(domain=["sequential", "parallel"], range=["#0072b2", "#d55e00"])
    loss = (
        altair.Chart(_data(losses), width=720, height=260)
        .mark_line()
        .encode(
            x=steps,
            y=altair.Y("loss:Q", scale=altair.Scale(zero=False)),
            color=altair.Color("run:N", scale=colours, title=None),
            strokeDash=altair.StrokeDash("run:N", scale=dashes, title=None),
        )
    )
    gap = (
        altair.Chart(_data(gaps), width=720, height=180)
        .mark_line(color="#333")
        .encode(
            x=steps,
            y=altair.Y(
                "relative difference:Q",
                scale=altair.Scale(type="log", domainMin=_SMALLEST),
                axis=altair.Axis(format=".0e", tickCount=6),
            ),
        )
    )
    limit = (
        altair.Chart(_data([{**one, "relative difference": one["tolerance"]} for one in gaps]))
        .mark_line(color="#d55e00", strokeDash=[2, 3])
        .encode(x=steps, y="relative difference:Q")
    )
    drawn = [vl_convert.vegalite_to_svg(chart.to_json()) for chart in (loss, gap + limit)]
    captions = (
        "The loss of both runs, step by step.",
        f"How far they are apart; dotted, how far they may be: {verdict.tolerance}.",
    )
    return "".join(
        f"<figure>{svg}<figcaption>{escape(text)}</figcaption></figure>"
        for svg, text in zip(drawn, captions, strict=True)
    )
