"""Whatever goes wrong becomes a message: users never see a traceback of trainera's own."""

import json
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from trainera.errors import Status, UserError

TRACEBACK = "TRAINERA_TRACEBACK"
"""Environment variable that brings tracebacks back, for those who mend trainera."""


def as_user_error(error: Exception) -> UserError:
    """The error as something to tell: itself, an operating system's complaint, or a bug of ours."""
    if isinstance(error, UserError):
        return error
    if isinstance(error, OSError):
        what = error.strerror or str(error) or type(error).__name__
        where = "" if error.filename is None else f"{error.filename}: "
        return UserError(f"{where}{what}", Status.FAILED)
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})" if frames else ""  # noqa: PTH119
    text = str(error).strip()
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return UserError(
        f"internal error: {what}{where} — a bug in trainera, not in your script — please report it "
        f"together with the script; {TRACEBACK}=1 shows the traceback",
        Status.FAILED,
    )


@contextmanager
def told_as_json(wanted: bool) -> Iterator[None]:
    """Under ``--json`` an error is data on stdout too."""
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:
        if not wanted or isinstance(error, BrokenPipeError):
            raise
        told = as_user_error(error)
        print(json.dumps({"error": str(told), "status": int(told.status)}, indent=2))
        raise typer.Exit(int(told.status)) from error
