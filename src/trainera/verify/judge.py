"""Runs both sides of a comparison and has them judged."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory

from trainera.verify.decide import before_parallel, decide
from trainera.verify.run import Request, Side, observe
from trainera.verify.verdict import Verdict

_SIGNALS = 128
"""Statuses above are signals that the user sent."""

_SHORTEST_PATIENCE_S = 60.0


class Interrupted(Exception):
    """The user asked for the end."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def judge(request: Request, progress: Callable[[str, int], None]) -> Verdict:
    """Runs both and compares. `progress` is told which side is how many steps far."""
    with (
        TemporaryDirectory(prefix="verify-", ignore_cleanup_errors=True)
        if request.keep is None
        else nullcontext(str(request.keep))
    ) as name:
        directory = Path(name)
        sequential = _run_sequential(request, directory, progress)
        _stop_if_asked(sequential)
        early = before_parallel(request, sequential)
        if early is not None:
            return early
        parallel = _run_parallel(request, sequential, directory, progress)
        _stop_if_asked(parallel)
        return decide(request, sequential, parallel)


def _stop_if_asked(side: Side) -> None:
    if side.status > _SIGNALS and not side.stuck and side.words.startswith("stopped by"):
        raise Interrupted(side.status)


def _run_sequential(
    request: Request, directory: Path, progress: Callable[[str, int], None]
) -> Side:
    return observe(
        "sequential",
        request.script,
        (),
        request.arguments,
        1,
        directory=directory / "sequential",
        settings=_settings(request),
        patience_s=request.patience_s or 600.0,
        progress=lambda steps: progress("sequential", steps),
    )


def _run_parallel(
    request: Request, sequential: Side, directory: Path, progress: Callable[[str, int], None]
) -> Side:
    patience_s = request.patience_s or max(_SHORTEST_PATIENCE_S, 3 * sequential.wall_s)
    choices = str(sequential.directory / "choices.json")
    return observe(
        "parallel",
        request.parallel,
        request.converted,
        request.arguments,
        request.workers,
        directory=directory / "parallel",
        settings={**_settings(request), "choices": choices},
        patience_s=patience_s,
        progress=lambda steps: progress("parallel", steps),
    )


def _settings(request: Request) -> dict[str, object]:
    return {
        "dtype": request.dtype,
        "seed": request.seed,
        "exact": request.exact,
        "steps": request.steps,
        "epochs": request.epochs,
    }
