"""``trainera bench``: measures strategies on workloads or on the user's own script."""

import hashlib
import os
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from trainera.cli import render
from trainera.cli.options import require_measured
from trainera.cli.run import RunCommand
from trainera.errors import Status, UserError

if TYPE_CHECKING:
    from trainera.bench.request import Experiment
    from trainera.results import Result
    from trainera.store import Store

STORE = Path("trainera-bench.db")
_ARGUMENTS = "trainera.arguments"

EPILOG = """\
[bold]Examples[/bold]
  trainera bench                          all workloads, tiny, once
  trainera bench mnist_cnn --size small   one workload, five times
  trainera bench train.py -n 1,2 --metric 'accuracy ([0-9.]+)' -- --epochs 2
  trainera bench mnist_192 mnist_192_keras --python keras=…/bin/python
  trainera bench --config experiment.toml --dry-run
  trainera report                         what came out, as one HTML file

Stopped at any moment, the same command goes on where it was.
What follows [bold]--[/bold] are arguments of your own scripts.
What your script writes is put back after each run: all of them begin alike.
The exit status is 1 if a run failed, 3 if a script was refused.
"""


class BenchCommand(RunCommand):
    """Keeps what follows ``--`` apart: before it there may be any number of workloads."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--" in args:
            border = args.index("--")
            ctx.meta[_ARGUMENTS] = tuple(args[border + 1 :])
            args = args[:border]
        return super().parse_args(ctx, args)


def bench(
    ctx: typer.Context,
    workloads: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORKLOAD|SCRIPT…", help="What to train; all workloads if nothing is given."
        ),
    ] = None,
    config: Annotated[
        Path | None, typer.Option("--config", help="A TOML file with the experiment; flags win.")
    ] = None,
    size: Annotated[
        str | None, typer.Option(help="Of the workloads: tiny (if not given), small, full.")
    ] = None,
    engines: Annotated[
        str | None, typer.Option(metavar="E,E…", help="Engines; every installed one if not given.")
    ] = None,
    workers: Annotated[
        str | None,
        typer.Option(
            "-n",
            "--workers",
            metavar="N,N…",
            help="Numbers of workers, each with the batch kept and with a batch for each of "
            "them; 1 and 2 if not given.",
        ),
    ] = None,
    strategies: Annotated[
        str | None,
        typer.Option(
            metavar="S,S…",
            help="Instead of engines and workers: sequential, ddp:2, ddp:2:shares=5:1, "
            "ddp:2:per-worker, with :linear and :warmup=2 behind it, …",
        ),
    ] = None,
    repetitions: Annotated[
        int | None, typer.Option(help="Timed runs of each: 5 of your scripts, 1, 5 or 10 by size.")
    ] = None,
    energy_runs: Annotated[int | None, typer.Option(help="Runs for energy among them.")] = None,
    warm_up: Annotated[
        int | None,
        typer.Option(help="Runs before, which do not count: 1, but none of tiny workloads."),
    ] = None,
    cool_down_s: Annotated[
        float | None, typer.Option("--cool-down", metavar="S", help="Pause between runs.")
    ] = None,
    factor: Annotated[
        list[str] | None,
        typer.Option(metavar="OPTION=A,B…", help="An option of the script with its levels."),
    ] = None,
    fraction: Annotated[
        int | None, typer.Option(help="Only 1 in so many combinations of the factors.")
    ] = None,
    python: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FRAMEWORK=PATH",
            help="The Python that runs scripts of torch, keras, or Keras on jax or tensorflow; "
            "trainera must be installed there.",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of each process.")] = None,
    timeout_s: Annotated[
        float | None, typer.Option("--timeout", metavar="S", help="End a run that takes longer.")
    ] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="REGEX", help="Finds the figure of merit in the output.")
    ] = None,
    metric_name: Annotated[
        str | None,
        typer.Option(
            help="What it is called, if not as in the pattern. Losses, errors, perplexities (mae, "
            "rmse, wer, fid …) are better when low."
        ),
    ] = None,
    seed_argument: Annotated[
        str | None, typer.Option(metavar="OPTION", help="How your script is told its seed.")
    ] = None,
    phases: Annotated[
        bool | None, typer.Option("--phases/--no-phases", help="Time the parts of a step.")
    ] = None,
    watts_per_core: Annotated[
        float | None,
        typer.Option(metavar="W", help="Estimate energy from CPU time where there is no meter."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Of the order of the runs.")] = None,
    store: Annotated[Path, typer.Option(help="Where results are kept.")] = STORE,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan; run nothing.")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Begin anew what is complete.")] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Make failed runs once more.")
    ] = False,
) -> None:
    """Measure time, accuracy and energy of training strategies, side by side.

    Results go into a store, one transaction a run; `trainera report` shows them.
    """
    given = {
        "workloads": tuple(workloads) if workloads else None,
        "size": size,
        "engines": _list(engines),
        "workers": _numbers(workers),
        "strategies": _list(strategies),
        "repetitions": repetitions,
        "energy_runs": energy_runs,
        "warm_up": warm_up,
        "cool_down_s": cool_down_s,
        "factors": _factors(factor),
        "fraction": fraction,
        "python": _pythons(python),
        "threads": threads,
        "timeout_s": timeout_s,
        "metric": metric,
        "metric_name": metric_name,
        "seed_argument": seed_argument,
        "phases": phases,
        "watts_per_core": watts_per_core,
        "seed": seed,
        "arguments": ctx.meta.get(_ARGUMENTS),
    }
    experiment = _experiment(config, {k: v for k, v in given.items() if v is not None})
    for note in experiment.notes:
        render.say(f"trainera: {note}")
    if not experiment.runs:
        raise UserError("nothing to run: no strategy fits these scripts")
    if dry_run:
        _print_plan(experiment, store)
        return
    with _alone(store):
        number, counts = _measure(experiment, store, again=again, retry_failed=retry_failed)
    from trainera.cli.report import say_what_came_out  # which takes the name of the store from here

    say_what_came_out(store, number)
    render.say(f"trainera: results in {render.shown(store)}; see them: trainera report {store}")
    if counts.get("failed"):
        raise typer.Exit(int(Status.FAILED))
    if counts.get("refused"):
        raise typer.Exit(int(Status.REFUSED))


def _experiment(config: Path | None, given: Mapping[str, Any]) -> "Experiment":
    from trainera.bench.energy import find_meters
    from trainera.bench.platforms import Pythons
    from trainera.bench.request import Request, read_request, work_out
    from trainera.cli.offers import offers, written_for

    request = Request(**{**({} if config is None else read_request(config)), **given})
    for word in (*request.engines, *request.strategies):
        require_measured(word)
    pythons = Pythons(request.python)
    return work_out(request, offers(pythons), pythons, written_for, meters=bool(find_meters()))


def _measure(
    experiment: "Experiment", path: Path, *, again: bool, retry_failed: bool
) -> tuple[int, dict[str, int]]:
    """The number of the experiment in the store, and how many of its runs are in which state."""
    from trainera.bench.energy import find_meters
    from trainera.bench.runner import run_experiment
    from trainera.cli import probe
    from trainera.store import Store

    with Store(path) as store:
        number = store.find(experiment.fingerprint)
        if number is not None and again and not store.planned(number):
            number = None
        if number is None:
            render.say("trainera: looking at this machine")
            number = store.add_experiment(
                experiment.fingerprint,
                asdict(experiment.request),
                {**probe.machine(), "frameworks": _versions(experiment)},
                [run.as_data() for run in experiment.runs],
            )
        elif retry_failed:
            store.replan(number, "failed")
        _say_where(store, number, len(experiment.runs))
        meters = find_meters()
        if not meters and experiment.settings.watts_per_core is None:
            render.say(f"trainera: energy is not measured ({meters.why_not})")
        for one in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(one) is signal.SIG_DFL:  # nohup has it ignored
                signal.signal(one, signal.default_int_handler)
        try:
            counts = run_experiment(store, number, experiment.settings, meters, render.say)
        except KeyboardInterrupt:
            render.say("trainera: stopped; the same command goes on from here")
            raise
        return number, counts


def _versions(experiment: "Experiment") -> dict[str, Any]:
    """What each framework ran on; it may be in another Python than this one."""
    from trainera.cli import probe

    pythons = {run.subject.framework: run.subject.python for run in experiment.runs}
    return {framework: probe.versions(python) for framework, python in pythons.items()}


def _say_where(store: "Store", number: int, total: int) -> None:
    left = len(store.planned(number))
    if left == 0:
        render.say(f"trainera: all {total} runs are there; --again measures them once more")
    elif left < total:
        render.say(f"trainera: {total - left} of {total} runs are there; going on with the rest")


def _print_plan(experiment: "Experiment", path: Path) -> None:
    from trainera.bench.progress import Progress, duration
    from trainera.store import Store

    known: tuple[Result, ...] = ()
    if path.is_file():
        with Store(path, create=False) as store:
            known = store.results()
    width = max(len(run.subject.name) for run in experiment.runs)
    print(f"run  block  kind     {'workload':<{width}}  strategy")
    for number, run in enumerate(experiment.runs, start=1):
        levels = " ".join(f"{name} {level}" for name, level in run.setting.items())
        print(
            f"{number:>3}  {run.block:>5}  {run.kind:<7}  {run.subject.name:<{width}}  "
            f"{run.strategy.name} {levels}".rstrip()
        )
    pauses_s = experiment.settings.cool_down_s * (len(experiment.runs) - 1)
    left_s = Progress(experiment.runs, known).left_s() + pauses_s
    basis = "by earlier runs" if known else "a guess: nothing was measured here yet"
    print(f"{render.counted(len(experiment.runs), 'run')}, about {duration(left_s)} ({basis})")


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    """Two benchmarks on one store would do each other's runs, and slow each other down."""
    import fcntl  # not on Windows, where the other verbs shall still work

    name = hashlib.sha256(str(store.resolve()).encode()).hexdigest()[:16]
    path = Path(tempfile.gettempdir()) / f"trainera-{os.getuid()}-{name}.lock"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"{store}: another benchmark is writing there — wait for it, or choose another "
                "--store",
                Status.FAILED,
            ) from None
        yield
    finally:
        os.close(handle)


def _list(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(one.strip() for one in text.split(",") if one.strip())


def _numbers(text: str | None) -> tuple[int, ...] | None:
    from trainera.bench.strategies import number_of_workers

    words = _list(text)
    return None if words is None else tuple(number_of_workers(one) for one in words)


def _factors(texts: list[str] | None) -> dict[str, tuple[str, ...]] | None:
    if not texts:
        return None
    found = {}
    for text in texts:
        name, equals, levels = text.partition("=")
        values = tuple(one for one in levels.split(",") if one)
        if not equals or not values:
            raise UserError(f"--factor '{text}': write OPTION=A,B, for example --lr=0.1,0.01")
        found[name] = values
    return found


def _pythons(texts: list[str] | None) -> dict[str, str] | None:
    if not texts:
        return None
    found = dict(text.partition("=")[::2] for text in texts)
    for key, path in found.items():
        if not path:
            raise UserError(f"--python {key}: write FRAMEWORK=PATH, for example keras=bin/python")
    return found
