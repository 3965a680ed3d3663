"""``trainera report``: what a benchmark gave, as one HTML file, as text or as data."""

import importlib.util
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainera.cli import render
from trainera.cli.bench import STORE
from trainera.errors import Status, UserError

if TYPE_CHECKING:
    from trainera.report.document import Document

EPILOG = """\
[bold]Examples[/bold]
  trainera report                                 of the latest experiment here
  trainera report bench.db -o report.html
  trainera report bench.db --format md
  trainera report FOLDER --reference '1 GPU'      of published measurements
  trainera report --format tensorboard -o runs    each run for TensorBoard
  trainera report --format mlflow                 to where MLFLOW_TRACKING_URI says
"""
_NEEDS = ("altair", "jinja2", "numpy", "scipy", "vl_convert")


class Form(str, Enum):
    """What a report is written as."""

    HTML = "html"
    MARKDOWN = "md"
    CSV = "csv"
    JSON = "json"
    TENSORBOARD = "tensorboard"
    MLFLOW = "mlflow"


_FILES = (Form.HTML, Form.MARKDOWN, Form.CSV, Form.JSON)
MARK = b'<meta name="generator" content="trainera">'
_TRACKERS = {
    Form.TENSORBOARD: ("tensorboard", "tensorboard"),
    Form.MLFLOW: ("mlflow", "mlflow"),
}


def report(
    store: Annotated[
        Path,
        typer.Argument(metavar="STORE", help="What `trainera bench` wrote, or published results."),
    ] = STORE,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File: report.html for HTML, else stdout. Folder for tensorboard and mlflow.",
        ),
    ] = None,
    form: Annotated[
        Form | None,
        typer.Option("--format", help="What to write; html, or what the file is called by."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="STRATEGY", help="What to compare with; sequential if not given."),
    ] = None,
    experiment: Annotated[
        str, typer.Option(metavar="N|all", help="Which experiment of the store.")
    ] = "latest",
) -> None:
    """Show which strategy to use and what it costs.

    The page works offline: charts, tables and raw data are in the one file.
    """
    if form is None:
        known = [one for one in _FILES if output is not None and output.suffix == f".{one.value}"]
        form = known[0] if known else Form.HTML
    missing = [name for name in _NEEDS if importlib.util.find_spec(name) is None]
    if missing:
        raise UserError(
            f"a report needs {', '.join(missing)}: pip install 'trainera[report]'", Status.FAILED
        )
    from trainera.report import document as forms
    from trainera.report.page import as_html

    found = _document(store, reference, experiment)
    if reference is not None and all(
        one.comparison.reference != reference for one in found.sections
    ):
        names = sorted({row.strategy for one in found.sections for row in one.comparison.rows})
        raise UserError(f"--reference '{reference}': not measured — there is {', '.join(names)}")
    if form in _TRACKERS:
        _export(found, form, output)
        return
    writers = {
        Form.HTML: as_html,
        Form.MARKDOWN: forms.as_markdown,
        Form.CSV: forms.as_csv,
        Form.JSON: forms.as_json,
    }
    text = writers[form](found)
    if output is None and form is Form.HTML:
        output = Path("report.html")
    if output is None:
        sys.stdout.write(text)
        return
    if form is Form.HTML and output.is_file() and MARK not in output.read_bytes():
        raise UserError(
            f"{render.shown(output)} is there already, and no report of trainera's: "
            "name another file with -o, or move it away"
        )
    output.write_text(text, encoding="utf-8")
    _say_verdicts(found)
    render.say(f"trainera: the report is in {render.shown(output)}")


def say_what_came_out(store: Path, experiment: int) -> None:
    """The verdict on an experiment, if what it takes is installed."""
    if all(importlib.util.find_spec(name) for name in _NEEDS):
        _say_verdicts(_document(store, None, str(experiment)))


def _say_verdicts(found: "Document") -> None:
    for group in found.frameworks:
        render.say(f"{group.title}: {group.text}")
    for section in found.sections:
        render.say(f"{section.comparison.title}: {section.verdict.text}")
        for remark in section.verdict.remarks:
            render.say(f"  {remark}")


def _export(found: "Document", form: Form, output: Path | None) -> None:
    """Hands every run to another tool, which has to be there."""
    module, package = _TRACKERS[form]
    if importlib.util.find_spec(module) is None:
        raise UserError(f"--format {form.value} needs {package}: pip install {package}")
    from trainera.report import trackers

    if form is Form.TENSORBOARD:
        if importlib.util.find_spec("torch") is None:
            raise UserError("--format tensorboard needs torch: pip install 'trainera[torch]'")
        folder = output or Path("runs")
        count = trackers.to_tensorboard(found.results, folder)
        look = f"tensorboard --logdir {render.shown(folder)}"
    else:
        if output is not None:
            output.mkdir(parents=True, exist_ok=True)
        from mlflow.exceptions import MlflowException

        try:
            count = trackers.to_mlflow(found.results, output, "trainera")
        except MlflowException as error:
            raise UserError(f"MLflow: {error}", Status.FAILED) from None
        place = "" if output is None else f" --backend-store-uri sqlite:///{output}/mlflow.db"
        look = f"mlflow ui{place}"
        if importlib.util.find_spec("flask") is None:
            look += " (of the whole mlflow: pip install mlflow)"
    left = len(found.results) - count
    kept = f"; {left} were there already or did not finish" if left else ""
    render.say(f"trainera: {count} runs written{kept}. Look at them with: {look}")


def _document(path: Path, reference: str | None, wanted: str) -> "Document":
    from trainera.bench.published import is_published, read_published
    from trainera.report.document import document
    from trainera.store import Store

    if is_published(path):
        return document("Published measurements", read_published(path), reference=reference)
    with Store(path, create=False) as store:
        experiments = store.experiments()
        if not experiments:
            raise UserError(f"{path}: no experiment in it yet — run `trainera bench` first")
        chosen = None if wanted == "all" else experiments[-1]
        if wanted not in ("all", "latest"):
            chosen = next((one for one in experiments if str(one.id) == wanted), None)
            if chosen is None:
                known = ", ".join(str(one.id) for one in experiments)
                raise UserError(f"--experiment {wanted}: there is {known}, latest or all")
        results = store.results(None if chosen is None else chosen.id)
    if not results:
        raise UserError(f"{path}: no run is finished yet — go on with `trainera bench`")
    shown = chosen or experiments[-1]
    return document(
        "Which strategy to use",
        results,
        reference=reference,
        request=shown.request,
        machine=shown.machine,
        created=shown.created,
    )
