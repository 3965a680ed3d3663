"""``trainera engines``: which there are, and how to get one that has to be built."""

from enum import Enum
from typing import Annotated

import typer

from trainera.cli import render
from trainera.cli.options import require_engine
from trainera.errors import UserError

app = typer.Typer(
    invoke_without_command=True,
    rich_markup_mode="rich",
)


@app.callback()
def unless_told(context: typer.Context) -> None:
    """List the engines, or install one that has to be built for this environment."""
    if context.invoked_subcommand is None:
        listed()


class Framework(str, Enum):
    """What Horovod is built for."""

    AUTO = "auto"
    TORCH = "torch"
    TENSORFLOW = "tensorflow"


@app.command("list")
def listed() -> None:
    """Name the engines and say what each of them needs that is missing here."""
    from trainera import engines

    every = list(engines.every())
    width = max(len(engine.name) for engine in every) + 2
    for engine in every:
        ready = "ready; for bench alone: another training" if engine.another else "ready"
        print(f"{engine.name:<{width}}{engine.title}: {engine.missing() or ready}")


@app.command("install")
def install(
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help="The engine, e.g. horovod.")],
    framework: Annotated[
        Framework,
        typer.Option(
            "--framework", help="What it is built for; auto: torch if it is here, else TensorFlow."
        ),
    ] = Framework.AUTO,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Build it even if there is a wheel in the cache.")
    ] = False,
) -> None:
    """Build an engine for the libraries of this environment and install it here.

    It takes some minutes, once: the wheel is kept in the cache for the next environment. Variables
    such as HOROVOD_GPU_OPERATIONS=NCCL or HOROVOD_WITH_MPI=1 are passed on to the build.
    """
    require_engine(engine)

    from trainera import engines

    if engine != "horovod":
        raise UserError(f"{engine} has nothing to build — {engines.get(engine).get}")

    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from trainera.install import horovod

    wanted = horovod.recipe(None if framework is Framework.AUTO else framework.value)
    title = f"Horovod {horovod.VERSION} for {wanted.framework} {wanted.framework_version}"
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=render.console(stderr=True)) as bar:
        task = bar.add_task(title, total=100)

        def progress(percent: int, doing: str) -> None:
            bar.update(task, completed=percent, description=f"{title}: {doing}")

        wheel, log = horovod.install(wanted, rebuild=rebuild, progress=progress)
    how = f"built (log: {log})" if log else "taken from the cache"
    render.say(f"{title}: installed, {how}; the wheel is kept as {wheel}")
