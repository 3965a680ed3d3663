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


class Random(str, Enum):
    """Whose random numbers dropout and noise are."""

    EXACT = "exact"
    OWN = "own"


class Batch(str, Enum):
    """Whose batch the script's batch size is."""

    GLOBAL = "global"
    PER_WORKER = "per-worker"


class Rate(str, Enum):
    """How learning rates follow a batch that has grown."""

    KEEP = "keep"
    LINEAR = "linear"
    SQRT = "sqrt"


EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="ENGINE",
        help="What the script is converted for; `trainera doctor` lists the engines. By default "
        "[bold]ddp[/bold] for PyTorch, [bold]jax[/bold] for Keras.",
        show_default=False,
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
RandomOption = Annotated[
    Random,
    typer.Option(
        "--random",
        help="Dropout and noise [bold]exact[/bold]ly as the script draws them now, or drawn by "
        "each worker on its [bold]own[/bold]: less work, but other numbers, and another order "
        "of the samples from the second epoch on.",
    ),
]
BatchOption = Annotated[
    Batch,
    typer.Option(
        "--batch",
        help="Share out the script's batch ([bold]global[/bold]), or give every worker one of its "
        "own ([bold]per-worker[/bold]): fewer steps of larger batches, no longer the same network.",
    ),
]
RateOption = Annotated[
    Rate,
    typer.Option("--lr", help="With --batch per-worker: learning rates times N, or its root."),
]
WarmupOption = Annotated[
    float,
    typer.Option(
        "--warmup", metavar="EPOCHS", help="Let them grow step by step over the first epochs."
    ),
]
Fp16Option = Annotated[
    bool,
    typer.Option(
        "--fp16", help="Horovod: send gradients with 16 bits; not quite the same network."
    ),
]
AdasumOption = Annotated[
    bool,
    typer.Option(
        "--adasum", help="Horovod: combine updates by Adasum instead of averaging gradients."
    ),
]
SharesOption = Annotated[
    str | None,
    typer.Option(
        "--shares",
        metavar="A:B:…|auto",
        envvar="TRAINERA_SHARES",
        show_envvar=False,
        show_default=False,
        help="What part of every batch each worker gets, for unequal devices: 12:12:1; auto: what "
        "each can carry. The same network is learned whatever the shares. Equal if not given.",
    ),
]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print data on stdout, and nothing else there.")
]


def as_options(
    batchnorm: BatchNorm,
    batch: Batch = Batch.GLOBAL,
    rate: Rate = Rate.KEEP,
    warmup: float = 0.0,
    random: Random = Random.EXACT,
    **extras: bool,
) -> Options:
    """The choices in the form that the rules read."""
    if rate is not Rate.KEEP and batch is Batch.GLOBAL:
        raise UserError(
            f"--lr {rate.value} is for a batch that grows, and this one stays what the script says "
            "— add --batch per-worker, or leave --lr out"
        )
    if warmup < 0 or (warmup and rate is Rate.KEEP):
        raise UserError(
            f"--warmup {warmup:g}: learning rates only warm up when they grow — "
            "give a number of epochs, with --batch per-worker and --lr linear or --lr sqrt"
        )
    return Options(
        batchnorm="local" if batchnorm is BatchNorm.LOCAL else "global",
        batch="per-worker" if batch is Batch.PER_WORKER else "global",
        lr=rate.value,
        warmup_epochs=warmup,
        random="own" if random is Random.OWN else "exact",
        extras=tuple(name for name, given in extras.items() if given),
    )


def require_engine(name: str | None, *, another: bool = False) -> None:
    """Raises, with the name that was probably meant, when there is no engine of that name.

    Or when it is `another` training than the script's, unless that is meant.
    """
    from trainera import engines

    if name is None:
        return
    for engine in engines.every():
        if engine.name == name.replace("_", "-") and engine.another:
            if not another:
                raise UserError(engine.only_measured)
            return
    if name not in engines.names():
        raise UserError(unknown("engine", name, engines.names()))


def require_measured(strategy: str) -> None:
    """Raises where an engine is asked for that `bench` does not try."""
    from trainera import engines

    name = strategy.partition(":")[0].strip()
    for engine in engines.every():
        if engine.name == name and not engine.measured:
            raise UserError(engine.not_started or f"bench does not measure {name}: leave it out")


def unknown(kind: str, name: str, known: Iterable[str]) -> str:
    """The message for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.5)
    way_out = f"did you mean {near[0]}?" if near else f"there is {', '.join(known)}"
    return f"no {kind} is called {name!r} — {way_out}"
