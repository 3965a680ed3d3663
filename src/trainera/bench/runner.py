"""Makes the runs of an experiment, one after the other, and stores each as soon as it is over."""

import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from trainera.bench import records
from trainera.bench.design import Run, command_arguments, from_data
from trainera.bench.energy import Meters
from trainera.bench.energy.estimate import estimate
from trainera.bench.energy.sampler import Sampler
from trainera.bench.process import Ended, command, environment, run_process
from trainera.bench.progress import Progress
from trainera.errors import Status
from trainera.launch.journal import put_back
from trainera.results import DeviceEnergy, Power, Result, State
from trainera.store import Store


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How every run is made."""

    phases: bool = True
    threads: int | None = None
    """Of each process; None: as the script and trainera have it."""
    timeout_s: float | None = None
    cool_down_s: float = 0.0
    watts_per_core: float | None = None


def run_experiment(
    store: Store,
    experiment: int,
    settings: Settings,
    meters: Meters,
    say: Callable[[str], None],
) -> dict[str, int]:
    """Makes what is still planned; how many runs of the experiment are now in which state."""
    planned = [(one.id, from_data(one.plan)) for one in store.planned(experiment)]
    progress = Progress([run for _, run in planned], store.results(experiment))
    journal = store.path.with_name(f"{store.path.name}.files").absolute()
    left = _restore(journal, stale=True)  # of a run that was cut off
    if left:
        names = ", ".join(str(path) for path in left)
        say(f"trainera: changed since a run was cut off, and left as it is: {names}")
    hopeless: dict[tuple[str, str | None, str], Result] = {}
    for number, (key, run) in enumerate(planned):
        kind = (run.subject.name, run.strategy.engine, run.strategy.batch)
        refused = hopeless.get(kind)
        if refused is not None:
            store.finish({key: _ended_early(run, "refused", refused.message)})
            progress.skip(run)
            continue
        if number and settings.cool_down_s:
            time.sleep(settings.cool_down_s)
        say(progress.before(run))
        try:
            result = run_once(run, settings, meters, journal)
        finally:
            _restore(journal)
        store.finish({key: result})
        say(progress.after(run, result))
        if result.state == "refused":
            hopeless[kind] = result
    return store.counts(experiment)


def _restore(journal: Path, *, stale: bool = False) -> list[Path]:
    """The user's files, as they were before a run, but for those that are returned."""
    left = put_back(journal, stale=stale)
    shutil.rmtree(journal, ignore_errors=True)
    return left


def run_once(run: Run, settings: Settings, meters: Meters, journal: Path | None = None) -> Result:
    """One run, measured. What it overwrites of the user's files is kept in the journal."""
    sampled = run.kind == "energy" and bool(meters)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        (folder / "records").mkdir()
        (folder / "work").mkdir()
        words = command(run.subject, run.strategy, command_arguments(run))
        surroundings = environment(
            folder / "records",
            script=run.strategy.engine is None,
            phases=settings.phases,
            threads=settings.threads,
            journal=None if run.subject.own_folder else journal,
        )
        place = folder / "work" if run.subject.own_folder else Path.cwd()
        sampler = Sampler(meters) if sampled else None
        with sampler or nullcontext():
            ended = run_process(words, surroundings, place, settings.timeout_s)
        found = records.read_records(folder / "records")
    state, message = _verdict(run, ended, settings.timeout_s)
    if state != "done":
        return _ended_early(run, state, message, ended)
    # Where `logging` is not told otherwise, it is on stderr.
    outputs = (ended.stdout, ended.stderr)
    each = (records.metrics_in(run.subject.metric, output) for output in outputs)
    metrics = next(filter(None, each), [])
    measured = records.measures(found, metrics, run.subject.metric_name)
    metric = metrics[-1] if metrics else measured.last_metric
    energy: tuple[DeviceEnergy, ...] = ()
    power: Power | None = None
    troubles = list(measured.errors)
    if sampler is not None:
        energy, power = sampler.energies(measured.used_gpus), sampler.power()
        troubles += sampler.gone.values()
    elif settings.watts_per_core is not None and not meters:
        energy = estimate(ended.cpu_s, settings.watts_per_core)
    return Result(
        workload=run.subject.name,
        framework=run.subject.framework,
        task=run.subject.task,
        strategy=run.strategy.name,
        workers=run.strategy.workers,
        batch=run.strategy.batch,
        another=run.strategy.another,
        kind=run.kind,
        block=run.block,
        setting=dict(run.setting),
        message="; ".join(troubles),
        data=records.data_in(ended.stdout),
        wall_s=ended.wall_s,
        total_s=measured.total_s,
        train_s=measured.train_s,
        validation_s=measured.validation_s,
        test_s=measured.test_s,
        epochs=measured.epochs,
        phases_s=measured.phases_s,
        meter_s=measured.meter_s if settings.phases else None,
        samples=measured.samples,
        peak_memory_bytes=measured.peak_memory_bytes,
        peak_gpu_memory_bytes=measured.peak_gpu_memory_bytes,
        metric_name="" if metric is None else run.subject.metric_name,
        metric=metric,
        figures=records.figures_in(ended.stdout),
        energy=energy,
        power=power,
    )


def _verdict(run: Run, ended: Ended, timeout_s: float | None) -> tuple[State, str]:
    if ended.timed_out:
        return "failed", f"not done after {timeout_s:g} s"
    if ended.status == 0:
        return "done", ""
    # A script may end with that status, too; trainera says so when it refuses.
    refused = run.strategy.engine is not None and ended.status == Status.REFUSED
    if refused and "nothing was run" in ended.stderr:
        reasons = ended.stderr.splitlines()
        return "refused", next((line for line in reasons if " — " in line), ended.last_words)
    end = f"ended by signal {-ended.status}" if ended.status < 0 else f"status {ended.status}"
    return "failed", ended.last_words or end


def _ended_early(run: Run, state: State, message: str, ended: Ended | None = None) -> Result:
    return Result(
        workload=run.subject.name,
        framework=run.subject.framework,
        task=run.subject.task,
        strategy=run.strategy.name,
        workers=run.strategy.workers,
        batch=run.strategy.batch,
        another=run.strategy.another,
        kind=run.kind,
        block=run.block,
        setting=dict(run.setting),
        state=state,
        message=message,
        wall_s=None if ended is None else ended.wall_s,
    )
