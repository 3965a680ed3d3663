"""Runs both sides of a comparison and has them judged."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from trainera.verify.decide import before_parallel, decide
from trainera.verify.run import ALONE, OBSERVERS, Request, Side, observe
from trainera.verify.statistics import equivalence, final_loss
from trainera.verify.trace import read_worker
from trainera.verify.verdict import Outcome, Verdict

_SIGNALS = 128
"""Statuses above are signals that the user sent."""

_PATIENCE_S = 120.0
"""How long nothing may happen, no batch, no step: longer than it takes to prepare any data."""


class Interrupted(Exception):
    """The user asked for the end."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def judge(request: Request, progress: Callable[[str, int], None]) -> Verdict:
    """Runs both and compares. `progress` is told which side is how many steps far."""
    with TemporaryDirectory(prefix="verify-", ignore_cleanup_errors=True) as name:
        directory = Path(name)
        sequential = _run_sequential(request, directory, progress)
        _stop_if_asked(sequential)
        early = before_parallel(request, sequential)
        if early is not None:
            return early
        parallel = _run_parallel(request, directory, progress)
        _stop_if_asked(parallel)
        if read_worker(parallel.directory, 0).mistaken:
            # The parallel run has shown which dimension is the batch; nothing else is changed.
            choices = str(parallel.directory / "choices.json")
            sequential = _run_sequential(request, directory / "again", progress, choices)
            _stop_if_asked(sequential)
        return decide(request, sequential, parallel)


def judge_by_results(
    request: Request, verdict: Verdict, seeds: int, progress: Callable[[str, int], None]
) -> Verdict:
    """Runs both with that many seeds, undisturbed, and tests whether they come to the same."""
    losses: dict[str, list[float]] = {"sequential": [], "parallel": []}
    free = replace(request, exact=False)
    with TemporaryDirectory(prefix="verify-", ignore_cleanup_errors=True) as name:
        for seed in range(seeds):
            directory = Path(name) / str(seed)
            one = replace(free, seed=seed + 1)
            for run in (_run_sequential, _run_parallel):
                side = run(one, directory, progress)
                _stop_if_asked(side)
                if not side.good:
                    reason = f"with seed {seed + 1} the {side.name} run failed:\n{side.words}"
                    return replace(verdict, outcome=Outcome.UNDECIDED, reason=reason)
                workers = [read_worker(side.directory, rank) for rank in range(side.workers)]
                losses[side.name].append(final_loss(workers))
    result = equivalence("final loss", losses["sequential"], losses["parallel"])
    notes = (*verdict.notes, verdict.reason)
    if result.holds:
        reason = f"by results, not step by step — {result}"
        return replace(verdict, outcome=Outcome.EQUIVALENT, reason=reason, notes=notes)
    if result.fails:
        reason = f"by results — {result}"
        return replace(verdict, outcome=Outcome.DIFFERENT, reason=reason, notes=notes)
    reason = f"the results scatter too much to tell — {result}; more --seeds narrow it down"
    return replace(verdict, reason=reason, notes=notes)


def _stop_if_asked(side: Side) -> None:
    if side.status > _SIGNALS and not side.stuck and side.words.startswith("stopped by"):
        raise Interrupted(side.status)


def _run_sequential(
    request: Request,
    directory: Path,
    progress: Callable[[str, int], None],
    choices: str | None = None,
) -> Side:
    return observe(
        "sequential",
        request.script,
        (),
        request.arguments,
        1,
        directory=directory / "sequential",
        settings={**_settings(request), "choices": choices},
        patience_s=request.patience_s or _PATIENCE_S,
        progress=lambda steps: progress("sequential", steps),
        agent=ALONE[request.framework],
        observer=OBSERVERS[request.framework],
        environment={},
    )


def _run_parallel(request: Request, directory: Path, progress: Callable[[str, int], None]) -> Side:
    choices = str(directory / "sequential" / "choices.json")
    return observe(
        "parallel",
        request.parallel,
        request.converted,
        request.arguments,
        request.processes or request.workers,
        directory=directory / "parallel",
        settings={**_settings(request), "choices": choices},
        patience_s=request.patience_s or _PATIENCE_S,
        progress=lambda steps: progress("parallel", steps),
        agent=request.agent,
        observer=OBSERVERS[request.framework],
        environment=request.environment,
    )


def _settings(request: Request) -> dict[str, object]:
    return {
        "dtype": request.dtype,
        "seed": request.seed,
        "exact": request.exact,
        "draws_alike": request.draws_alike,
        "steps": request.steps,
        "epochs": request.epochs,
    }
