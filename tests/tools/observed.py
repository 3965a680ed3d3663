"""Observed runs without the seconds that it takes to import torch for each."""

from pathlib import Path

from tests.tools.runs import Runner
from trainera.verify.decide import before_parallel, decide
from trainera.verify.files import settle
from trainera.verify.run import Request, Side
from trainera.verify.verdict import Verdict


def observed(
    runner: Runner,
    script: Path,
    folder: Path,
    workers: int,
    *,
    arguments: list[str] | None = None,
    choices: Path | None = None,
    dtype: str = "float64",
    timeout: float = 90,
    engine: str = "ddp",
    limit: dict[str, int] | None = None,
    draws_alike: bool = False,
) -> Side:
    """Runs a script as `trainera verify` does: alone if `workers` is 0."""
    directory = folder / ("parallel" if workers else "sequential")
    work = folder / f"{directory.name}-work"
    work.mkdir(parents=True)
    directory.mkdir()
    settings: dict[str, object] = {"directory": str(directory), "dtype": dtype, **(limit or {})}
    settings["draws_alike"] = draws_alike
    if choices is not None:
        settings["choices"] = str(choices)
    run = runner.run(script, work, arguments, workers, timeout, observer=settings, engine=engine)
    settle(directory)
    failed = [status for status in run.statuses if status != 0]
    words = "\n".join(
        (directory / f"stderr-{rank}").read_text(errors="replace")
        for rank in range(max(1, workers))
    )
    return Side(
        name=directory.name,
        directory=directory,
        workers=max(1, workers),
        status=0 if not failed else 1,
        wall_s=0.0,
        words=words if failed else "",
        stuck=None in failed,
    )


def verdict_on(
    sequential: Side, parallel: Side, script: Path, workers: int, dtype: str = "float64"
) -> Verdict:
    """As `trainera verify` judges it."""
    request = Request(
        script=script,
        parallel=script,
        converted=(),
        arguments=(),
        workers=workers,
        engine="ddp",
        dtype=dtype,
    )
    return before_parallel(request, sequential) or decide(request, sequential, parallel)
