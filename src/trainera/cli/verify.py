"""``trainera verify``: shows that the parallel run trains the same network, or where it parts."""

import os
import sys
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trainera.cli import render
from trainera.cli.options import (
    EngineOption,
    Random,
    RandomOption,
    SharesOption,
    require_engine,
)
from trainera.errors import Status, UserError

if TYPE_CHECKING:
    from trainera.plan import Converted
    from trainera.verify.verdict import Verdict

EPILOG = """\
[bold]Examples[/bold]
  trainera verify train.py -n 3
  trainera verify train.py -n 2 --epochs 1 -- --data small
  trainera verify --pair train.py train_by_hand.py -n 2     a conversion made by hand
  trainera verify train.py -n 2 --html verdict.html

Both runs are observed, not edited, and your files are left as they were.
The exit status is 0 if they are EQUIVALENT, 1 if they are DIFFERENT or it is UNDECIDED, 3 if the
script is refused.
"""


class Dtype(str, Enum):
    """The precision of the comparison."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"


def verify(
    script: Annotated[
        Path,
        typer.Argument(metavar="SCRIPT", help="The script; with --pair, its parallel version."),
    ],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGS", help="Arguments of the script, after --.", show_default=False
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option("-n", "--workers", metavar="N", help="How many workers.", min=1)
    ] = 2,
    engine: EngineOption = None,
    pair: Annotated[
        Path | None,
        typer.Option(
            metavar="SEQUENTIAL",
            help="The sequential script of which SCRIPT is a parallel version made by hand.",
            show_default=False,
        ),
    ] = None,
    random: RandomOption = Random.EXACT,
    shares: SharesOption = None,
    dtype: Annotated[
        Dtype, typer.Option(help="float64 leaves no doubt; float32 is what is trained with.")
    ] = Dtype.FLOAT64,
    steps: Annotated[
        int | None, typer.Option(metavar="K", help="Stop after K optimizer steps.", min=1)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(metavar="K", help="Stop after K epochs.", min=1)
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            help="Where random numbers stand in the way of a comparison step by step, compare the "
            "results of K runs each.",
            min=5,
            show_default=False,
        ),
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="How long nothing may move before a run is ended.",
            min=1.0,
            show_default=False,
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the verdict as data.")] = False,
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a page with the curves.", show_default=False),
    ] = None,
) -> None:
    """Run a script and its parallel version, and compare every step.

    Samples, losses, gradients, learning rates, weights, checkpoints and output are compared in
    full precision. The verdict names the first step at which they part, and the likely cause.
    """
    require_engine(engine)
    from trainera.launch.shares import variables
    from trainera.pipeline import convert_script, engine_of
    from trainera.plan import Options
    from trainera.verify.judge import Interrupted, judge, judge_by_results
    from trainera.verify.run import Request

    for path in (script, *([pair] if pair else [])):
        if not path.is_file():
            raise UserError(f"{path}: no such file")
    # A script made parallel by hand may not look like one that trains; the sequential one does.
    chosen = engine_of(pair or script, engine)
    if pair is None and chosen.not_started:
        raise UserError(chosen.not_started)
    if shares and pair is not None:
        raise UserError("--shares is for scripts that trainera converts — leave it out with --pair")
    told = variables(shares, workers, chosen)
    converted: tuple[Converted, ...] = ()
    if pair is None:
        options = Options(random="own" if random is Random.OWN else "exact")
        plan, converted = convert_script(script, chosen.name, options)
        if plan.refusals:
            render.print_refusals(plan, stderr=True)
            render.say(f"{render.shown(script)}: refused; nothing was run")
            raise typer.Exit(int(Status.REFUSED))
    missing = chosen.missing()
    if missing is not None:
        raise UserError(missing, Status.FAILED)
    request = Request(
        script=pair or script,
        parallel=script,
        converted=converted,
        arguments=tuple(arguments or ()),
        workers=workers,
        engine=chosen.name if pair is None else "by hand",
        draws_alike=pair is None and random is Random.EXACT,
        agent=chosen.agent,
        processes=chosen.processes(workers),
        environment=chosen.variables(workers, os.environ) | told,
        framework=chosen.framework,
        dtype=dtype.value,
        steps=steps,
        epochs=epochs,
        patience_s=timeout,
    )
    try:
        with _Progress(quiet=json) as progress:
            verdict = judge(request, progress.show)
            if seeds is not None and verdict.chance:
                verdict = judge_by_results(request, verdict, seeds, progress.show)
    except Interrupted as end:
        raise typer.Exit(end.status) from None
    if html is not None:
        from trainera.verify.page import write_page

        write_page(verdict, html)
        render.say(f"wrote {render.shown(html)}")
    if json:
        render.print_data(verdict.as_data())
    else:
        print_verdict(verdict)
    good = verdict.outcome.value == "EQUIVALENT"
    raise typer.Exit(int(Status.DONE if good else Status.FAILED))


class _Progress:
    """A line on stderr that tells how far each run is; nothing where stderr is no terminal."""

    def __init__(self, *, quiet: bool) -> None:
        self._shown = not quiet and sys.stderr.isatty()
        self._total = 0

    def __enter__(self) -> "_Progress":
        if self._shown:
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description:>10}"),
                BarColumn(),
                TextColumn("{task.completed} steps"),
                TimeElapsedColumn(),
                console=render.console(stderr=True),
                transient=True,
            )
            self._bar.start()
            self._tasks = {name: self._bar.add_task(name, total=None, start=False)
                           for name in ("sequential", "parallel")}  # fmt: skip
        return self

    def show(self, side: str, steps: int) -> None:
        """Tells that a side is that many steps far; the second knows how many there will be."""
        if not self._shown:
            return
        task = self._tasks[side]
        if side == "sequential":
            self._total = steps
        self._bar.start_task(task)
        self._bar.update(task, completed=steps, total=self._total if side == "parallel" else None)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._bar.stop()


_COLOURS = {"EQUIVALENT": "bold green", "DIFFERENT": "bold red", "UNDECIDED": "bold yellow"}


def print_verdict(verdict: "Verdict") -> None:
    """The answer on stdout, as a person reads it."""
    from rich.text import Text

    out = render.console()
    head = Text().append(verdict.outcome.value, _COLOURS[verdict.outcome.value])
    out.print(head.append(f"  {verdict.reason}"))
    if verdict.steps:
        out.print(
            f"  {render.counted(verdict.steps, 'step')}, "
            f"{render.counted(verdict.workers, 'worker')}, {verdict.dtype}, "
            f"tolerance {verdict.tolerance}"
        )
    if verdict.first is not None and verdict.outcome.value == "DIFFERENT":
        first = verdict.first
        where = f" ({first.where})" if first.where else ""
        out.print(f"  sequential  {first.sequential}{where}", markup=False)
        out.print(f"  parallel    {first.parallel}", markup=False)
    if verdict.diagnosis is not None:
        out.print(Text("  likely      ").append(verdict.diagnosis.text))
        if verdict.diagnosis.do:
            out.print(Text("  do          ").append(verdict.diagnosis.do))
    for place in verdict.waiting:
        out.print(f"  {place}", markup=False)
    _print_largest(verdict)
    if verdict.rows and len(verdict.rows) > 1 and any(verdict.rows):
        shares = ", ".join(f"{rows / sum(verdict.rows):.0%}" for rows in verdict.rows)
        out.print(f"  share of the samples by worker: {shares}")
    for note in verdict.notes:
        out.print(f"  note: {note}", markup=False)


def _print_largest(verdict: "Verdict") -> None:
    from rich.table import Table

    if not verdict.largest:
        return
    table = Table(box=None, padding=(0, 2), header_style="dim")
    table.add_column("agreed")
    table.add_column("values", justify="right")
    table.add_column("largest difference", justify="right")
    table.add_column("at step", justify="right")
    for one in verdict.largest:
        step = "" if one.step is None or one.relative == 0 else str(one.step)
        table.add_row(one.quantity, str(one.compared), f"{one.relative:.1e}", step)
    render.console().print(table, soft_wrap=False)
