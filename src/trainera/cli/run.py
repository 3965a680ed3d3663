"""``trainera run``: converts in memory and trains on several workers of this machine."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from trainera.cli import render
from trainera.cli.options import (
    AdasumOption,
    Batch,
    BatchNorm,
    BatchNormOption,
    BatchOption,
    EngineOption,
    Fp16Option,
    Random,
    RandomOption,
    Rate,
    RateOption,
    SharesOption,
    WarmupOption,
    as_options,
    require_engine,
)
from trainera.errors import Status, UserError

if TYPE_CHECKING:
    from trainera.engines.base import Engine

AUTO = "auto"

EPILOG = """\
[bold]Examples[/bold]
  trainera run train.py -n 4
  trainera run train.py -n auto -- --epochs 10 --lr 0.1
  trainera run train.py -n 3 --shares 12:12:1          the third device is slower

What follows [bold]--[/bold] is the script's. So is stdout; trainera speaks on stderr.
The exit status is 1 if the training fails, 3 if the script is refused.
"""


class RunCommand(TyperCommand):
    """Says where options of the script go when one is met among trainera's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            name = getattr(error, "option_name", None)
            if type(error).__name__ == "NoSuchOption" and isinstance(name, str):
                script = next((word for word in given if word.endswith(".py")), "SCRIPT")
                verb = f"trainera {ctx.info_name} {script} -n 2 -- {name} …"
                hint = f"Options of the script go after --: {verb}"
                error.message = f"No such option: {name}. {hint}"  # type: ignore[attr-defined]
            raise


def run(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="The training script.")],
    arguments: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ARGS", help="Arguments of the script, after --.", show_default=False
        ),
    ] = None,
    workers: Annotated[
        str,
        typer.Option(
            "-n",
            "--workers",
            metavar="N|auto",
            help="How many workers; auto: one for each GPU, else one for each core.",
        ),
    ] = AUTO,
    engine: EngineOption = None,
    hosts: Annotated[
        str | None,
        typer.Option(
            "--hosts",
            metavar="A:2,B:2",
            help="Horovod: machines and their number of workers; all see the script's directory.",
        ),
    ] = None,
    timeline: Annotated[
        Path | None,
        typer.Option(
            "--timeline",
            metavar="FILE",
            help="Horovod: write what it did and when, to be opened in chrome://tracing.",
        ),
    ] = None,
    batchnorm: BatchNormOption = BatchNorm.GLOBAL,
    random: RandomOption = Random.EXACT,
    batch: BatchOption = Batch.GLOBAL,
    rate: RateOption = Rate.KEEP,
    warmup: WarmupOption = 0.0,
    fp16: Fp16Option = False,
    adasum: AdasumOption = False,
    another: Annotated[
        bool,
        typer.Option(
            "--another-training",
            hidden=True,
            help="For bench: take engines that learn something else than the script, too.",
        ),
    ] = False,
    shares: SharesOption = None,
) -> None:
    """Train a script on several workers, with the output of one.

    The script is converted in memory; no file of yours is changed.
    """
    require_engine(engine, another=another)
    number = None if workers == AUTO else _number(workers)

    from trainera.launch import devices, local
    from trainera.launch import hosts as machines
    from trainera.launch import shares as parts
    from trainera.pipeline import convert_script, engine_of

    chosen = engine_of(script, engine)
    if chosen.not_started:
        raise UserError(chosen.not_started)
    environment = _timeline(timeline, chosen)
    slots = None if hosts is None else machines.slots(hosts, number, chosen)
    told = slots.workers if slots is not None else number
    if told is None and shares and shares != parts.AUTO:
        told = number = shares.count(":") + 1
    environment |= parts.variables(shares, told or 0, chosen)
    options = as_options(batchnorm, batch, rate, warmup, random, fp16=fp16, adasum=adasum)
    plan, converted = convert_script(script, chosen.name, options, standalone=slots is not None)
    if plan.refusals:
        render.print_refusals(plan, stderr=True)
        render.say(f"{render.shown(script)}: refused; nothing was run")
        raise typer.Exit(int(Status.REFUSED))
    render.print_notes(plan, stderr=True)
    missing = chosen.missing()
    if missing is not None:
        raise UserError(missing, Status.FAILED)
    given = arguments or []
    if slots is not None:
        status = machines.run(script, converted, given, slots, chosen, environment)
        raise typer.Exit(status)
    if number is None:
        number = devices.auto_workers(chosen.framework)
        _say(f"running on {render.counted(number, 'worker')}")
    elif number > (room := devices.auto_workers(chosen.framework)):
        kind = "GPU" if devices.gpus(chosen.framework) else "core"
        _say(f"{number} workers share {render.counted(room, kind)}: expect no gain in speed")
    status = local.run(
        script,
        converted,
        given,
        chosen.processes(number),
        say=_say,
        agent=chosen.agent,
        environment=environment | chosen.variables(number, os.environ),
    )
    raise typer.Exit(int(status))


def _timeline(file: Path | None, engine: "Engine") -> dict[str, str]:
    """The variable that has the engine write a trace."""
    if file is None:
        return {}
    if not engine.timeline:
        raise UserError(f"--timeline: {engine.title} writes none — use --engine horovod")
    if not file.absolute().parent.is_dir():
        raise UserError(f"--timeline {file}: there is no directory {file.parent} — create it")
    return {engine.timeline: str(file.absolute())}


def _say(text: str) -> None:
    """The script may write to stderr, too, so it has to be plain whose words these are."""
    render.say(f"trainera: {text}")


def _number(workers: str) -> int:
    try:
        number = int(workers)
    except ValueError:
        number = 0
    if number < 1:
        raise UserError(f"-n {workers}: not a number of workers — give 1 or more, or auto")
    return number
