"""Options that several verbs share, so that they are spelled and explained once."""

import difflib
from collections.abc import Iterable
from enum import Enum
from typing import Annotated

import typer

from trainera.errors import UserError
from trainera.plan import Options


class BatchNorm(str, Enum):
    """Whose statistics batch normalisation uses."""

    GLOBAL = "global"
    LOCAL = "local"


EngineOption = Annotated[
    str,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="What the script is converted for; `trainera doctor` lists the engines.",
    ),
]
BatchNormOption = Annotated[
    BatchNorm,
    typer.Option(
        "--batchnorm",
        help="Batch statistics of the [bold]global[/bold] batch, as the script has them now, or of "
        "each worker's [bold]local[/bold] slice: faster, but no longer the same network.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print data on stdout, and nothing else there.")
]


def as_options(batchnorm: BatchNorm) -> Options:
    """The choices in the form that the rules read."""
    return Options(batchnorm="local" if batchnorm is BatchNorm.LOCAL else "global")


def require_engine(name: str) -> None:
    """Raises, with the name that was probably meant, when there is no engine of that name."""
    from trainera import engines

    if name not in engines.names():
        raise UserError(unknown("engine", name, engines.names()))


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    way_out = f"did you mean {near[0]}?" if near else f"there is {', '.join(known)}"
    return f"no {kind} is called {name!r} — {way_out}"
