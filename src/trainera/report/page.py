"""The report as one HTML file that needs neither network nor script."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from trainera import __version__
from trainera.report import frameworks
from trainera.report.charts import charts
from trainera.report.document import Document, as_csv, as_json, figures, table


def as_html(report: Document) -> str:
    """The page. Whatever comes from users is escaped by the template engine."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    sections = []
    for section in report.sections:
        titles, rows = table(section.comparison)
        drawn = charts(section.comparison)
        sections.append(
            {
                "title": section.comparison.title,
                "data": section.comparison.data,
                "verdict": section.verdict,
                "titles": titles,
                "rows": rows,
                # altair's renderer escapes the text in its pictures.
                "charts": [(one, Markup(one.wide), Markup(one.narrow)) for one in drawn],
                "figures": figures(section.comparison),
                "troubles": _troubles(section.comparison.results),
                "metric": any(row.metric is not None for row in section.comparison.rows)
                and section.comparison.metric_name,
                "intervals": section.comparison.has_intervals,
            }
        )
    groups = []
    for group in report.frameworks:
        titles, rows = frameworks.table(group)
        drawn_one = frameworks.chart(group)
        pictures = [(drawn_one, Markup(drawn_one.wide), Markup(drawn_one.narrow))]
        groups.append(
            {
                "title": group.title,
                "text": group.text,
                "titles": titles,
                "rows": rows,
                "charts": pictures,
            }
        )
    page = environment.get_template("page.html.j2")
    return page.render(
        title=report.title,
        created=report.created,
        version=__version__,
        groups=groups,
        sections=sections,
        machine=_flat(report.machine),
        request=_flat(report.request),
        csv=_link("text/csv", as_csv(report)),
        json=_link("application/json", as_json(report)),
        runs=len(report.results),
    )


def _troubles(results: Any) -> list[tuple[str, str, str]]:
    """Each failure or refusal once, with the last of what was said about it."""
    found = {
        (one.strategy, one.state, one.message.strip()[-600:])
        for one in results
        if one.state != "done"
    }
    return sorted(found)


def _link(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def _flat(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    """Nested data as rows of a table."""
    rows: list[tuple[str, str]] = []
    for name, value in data.items():
        if isinstance(value, Mapping):
            rows += _flat(value, f"{prefix}{name} ")
        elif value not in (None, "", [], (), {}):
            shown = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rows.append((f"{prefix}{name}", shown))
    return rows
