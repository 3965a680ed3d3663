"""The program ``trainera``: its verbs put together, and the way out of each of them."""

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Annotated

import typer

from trainera import __version__
from trainera.cli import (
    bench,
    check,
    convert,
    doctor,
    engines,
    explain,
    render,
    report,
    run,
    verify,
)
from trainera.cli.trouble import TRACEBACK, as_user_error
from trainera.errors import Status

INTERRUPTED = 130
"""What shells expect of a program that was stopped with Ctrl-C."""

EPILOG = """\
[bold]Examples[/bold]
  trainera check train.py            what would change, what stands in the way
  trainera convert train.py --diff   see the change, write nothing
  trainera convert train.py          write train_ddp.py, then start it with
                                     torchrun --nproc-per-node 4 train_ddp.py
  trainera run train.py -n 4         convert in memory and train
  trainera bench train.py -n 1,2     measure it; trainera report shows what came out
  trainera doctor                    what this machine can run

[bold]Exit status[/bold]
  0  done
  1  failed: the training, or something on this machine
  2  wrong usage: an option, or a file that is missing or no Python
  3  refused: it cannot be made parallel without changing what it computes
"""

app = typer.Typer(
    name="trainera",
    help="Turns a training script written for one process into one that trains the [bold]same "
    "network[/bold] on many.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("convert", epilog=convert.EPILOG)(convert.convert)
app.command("check", epilog=check.EPILOG)(check.check)
app.command("run", epilog=run.EPILOG, cls=run.RunCommand)(run.run)
app.command("verify", epilog=verify.EPILOG, cls=run.RunCommand)(verify.verify)
app.command("bench", epilog=bench.EPILOG, cls=bench.BenchCommand)(bench.bench)
app.command("report", epilog=report.EPILOG)(report.report)
app.command("doctor")(doctor.doctor)
app.add_typer(engines.app, name="engines")
app.command("explain", epilog=explain.EPILOG)(explain.explain)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"trainera {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Holds the options that stand before the verb."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line and gives the exit status; nothing but `SystemExit` can escape it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A terminal that lacks a character shall not turn a message into a crash.
            stream.reconfigure(errors="backslashreplace")
    try:
        status = _invoke(arguments)
        sys.stdout.flush()
    except OSError as error:
        # The reader of our output has gone, or the disk is full. Python's own flush at the very
        # end shall not fail of it once more.
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            render.print_error(as_user_error(error))
        return int(Status.FAILED)
    return status


def _invoke(arguments: Sequence[str] | None) -> int:
    try:
        app(args=arguments, prog_name="trainera")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(Status.DONE)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if isinstance(error, OSError) and error.filename is None:
            raise
        if os.environ.get(TRACEBACK):
            traceback.print_exc()
        told = as_user_error(error)
        render.print_error(told)
        return int(told.status)
    return int(Status.DONE)
