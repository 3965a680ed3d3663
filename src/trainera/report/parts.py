"""What the charts have in common: axes, colours that mean one strategy everywhere, legends."""

import io
from typing import Any

from trainera.bench.summary import Comparison

WIDE, NARROW = 560, 230
# Okabe and Ito's colours, which people with any kind of colour vision can tell apart.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [10, 4], [1, 3], [12, 3])


def grouped_bars(comparison: Comparison, data: list[dict[str, Any]], title: str, width: int) -> Any:
    import altair

    parts = list(dict.fromkeys(one["part"] for one in data))
    return (
        base(altair, data)
        .mark_bar()
        .encode(
            y=strategy_axis(altair, comparison),
            yOffset=altair.YOffset("part:N", sort=parts),
            x=altair.X("value:Q", title=title),
            color=colour_legend(altair, "part:N", parts, width),
        )
        .properties(width=width, height=height_of(len(comparison.rows), 44))
    )


def lines_over(
    comparison: Comparison,
    data: list[dict[str, Any]],
    field: str,
    x_title: str,
    y_title: str,
    width: int,
) -> Any:
    import altair

    names = [
        name for name in strategy_names(comparison) if any(one["strategy"] == name for one in data)
    ]
    last = max(one[field] for one in data)
    few = field == "epoch" and last <= 10  # there is no half of an epoch
    axis = altair.Axis(values=list(range(1, last + 1)), format="d") if few else altair.Axis()
    dashes = [DASHES[strategy_names(comparison).index(name) % len(DASHES)] for name in names]
    return (
        base(altair, data)
        .mark_line(strokeWidth=2, point={"size": 30} if len(data) <= 80 else False)
        .encode(
            x=altair.X(f"{field}:Q", title=x_title, axis=axis),
            y=altair.Y("value:Q", title=y_title, scale=altair.Scale(zero=False)),
            color=colour_legend(
                altair, "strategy:N", names, width, strategy_names(comparison), lines=True
            ),
            strokeDash=altair.StrokeDash(
                "strategy:N",
                scale=altair.Scale(domain=names, range=dashes),
                sort=names,
                legend=_dash_legend(altair, width),
            ),
        )
        .properties(width=width, height=240)
    )


def base(altair: Any, data: list[dict[str, Any]]) -> Any:
    return altair.Chart(altair.Data(values=data))


def strategy_axis(altair: Any, comparison: Comparison) -> Any:
    axis = altair.Axis(labelLimit=130, labelOverlap=False)
    return altair.Y("strategy:N", title=None, sort=strategy_names(comparison), axis=axis)


def colour(altair: Any, comparison: Comparison) -> Any:
    names = strategy_names(comparison)
    return altair.Color("strategy:N", scale=_colours_of(altair, names), legend=None)


def colour_legend(
    altair: Any,
    field: str,
    names: list[str],
    width: int,
    known: list[str] | None = None,
    *,
    lines: bool = False,
) -> Any:
    """Colours of these names; where `known` holds more, each keeps the colour it has there."""
    legend = altair.Legend(
        orient="bottom",
        columns=3 if width == WIDE else 1,
        title=None,
        labelLimit=220,
        symbolType="stroke" if lines else "square",
        symbolStrokeWidth=3 if lines else 0,
    )
    return altair.Color(field, scale=_colours_of(altair, names, known), legend=legend, sort=names)


def _dash_legend(altair: Any, width: int) -> Any:
    """The same legend for the dashes, so that both are shown as one."""
    return altair.Legend(orient="bottom", columns=3 if width == WIDE else 1, title=None)


def _colours_of(altair: Any, names: list[str], known: list[str] | None = None) -> Any:
    order = known or names
    colours = [COLOURS[order.index(name) % len(COLOURS)] for name in names]
    return altair.Scale(domain=names, range=colours)


def strategy_names(comparison: Comparison) -> list[str]:
    return [row.strategy for row in comparison.rows]


def height_of(rows: int, each: int = 30) -> int:
    return rows * each + 10


def svg(chart: Any) -> str:
    """The picture as text, in the fonts that the reader has."""
    file = io.StringIO()
    chart.configure(font="Arial, Liberation Sans, DejaVu Sans, sans-serif").configure_axis(
        labelFontSize=12,
        titleFontSize=12,
        titleFontWeight="normal",
        titlePadding=12,
        labelSeparation=8,
    ).configure_legend(labelFontSize=12).configure_view(stroke=None).save(file, format="svg")
    return file.getvalue()
