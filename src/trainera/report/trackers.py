"""Runs for the tools in which people keep their other experiments: TensorBoard and MLflow."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trainera.results import Result

_AT_ONCE = 1000  # MLflow takes no more in one request


def to_tensorboard(results: Sequence[Result], folder: Path) -> int:
    """Writes a folder of events for each run, and says how many; what is there stays as it is."""
    from torch.utils.tensorboard import SummaryWriter

    written = 0
    for one in results:
        place = folder / _slug(one.workload) / _slug(one.strategy) / _title(one)
        if one.state != "done" or place.exists():
            continue
        with SummaryWriter(str(place)) as writer:
            for name, step, value in _series(one):
                writer.add_scalar(name, value, step)
            for name, values in _power(one):
                for number, watts in enumerate(values):
                    writer.add_scalar(name, watts, number)
            for name, value in _outcome(one).items():
                writer.add_scalar(f"run/{name}", value, 0)
            table = [f"| {name} | {value} |" for name, value in _settings(one).items()]
            writer.add_text("settings", "\n".join(["| setting | value |", "| --- | --- |", *table]))
        written += 1
    return written


def to_mlflow(results: Sequence[Result], folder: Path | None, experiment: str) -> int:
    """Logs each run, and says how many; those that are there already are left out.

    Without a folder it is MLflow's own setting (`MLFLOW_TRACKING_URI`) that says where.
    """
    import mlflow
    from mlflow.entities import Metric, Param

    client = mlflow.MlflowClient(None if folder is None else f"sqlite:///{folder}/mlflow.db")
    found = client.get_experiment_by_name(experiment)
    number = found.experiment_id if found else client.create_experiment(experiment)
    known = {run.data.tags.get("trainera.run") for run in client.search_runs([number])}
    written = 0
    for one in results:
        if _key(one) in known:
            continue
        tags = {"trainera.run": _key(one), "trainera.message": one.message[:5000]}
        run = client.create_run(number, tags=tags, run_name=f"{one.workload} {one.strategy}")
        name = run.info.run_id
        params = [Param(key, text) for key, text in _settings(one).items()]
        metrics = [Metric(key, value, 0, 0) for key, value in _outcome(one).items()]
        metrics += [Metric(key, value, 0, step) for key, step, value in _series(one)]
        for key, values in _power(one):
            metrics += [Metric(key, watts, 0, step) for step, watts in enumerate(values)]
        client.log_batch(name, params=params)
        for first in range(0, len(metrics), _AT_ONCE):
            client.log_batch(name, metrics=metrics[first : first + _AT_ONCE])
        client.set_terminated(name, "FINISHED" if one.state == "done" else "FAILED")
        written += 1
    return written


def _settings(one: Result) -> dict[str, str]:
    """What was chosen."""
    fixed = {
        "workload": one.workload,
        "strategy": one.strategy,
        "workers": str(one.workers),
        "batch": one.batch,
        "kind": one.kind,
        "block": str(one.block),
        "data": one.data or "unknown",
    }
    return fixed | {f"setting.{_slug(name)}": value for name, value in one.setting.items()}


def _outcome(one: Result) -> dict[str, float]:
    """What came out: a number a name."""
    names = ("wall_s", "total_s", "train_s", "validation_s", "test_s", "samples_per_s", "metric")
    found: dict[str, float | None] = {name: getattr(one, name) for name in names}
    found["peak_memory_bytes"] = max(one.peak_memory_bytes, default=None)
    found["energy_j"] = one.energy_j()
    found["energy_with_idle_j"] = one.energy_j(idle=True)
    found["edp_js"] = one.edp_js()
    phases = {f"phase.{name}_s": value for name, value in one.phases_s.items()}
    figures = {f"figure.{_slug(name)}": value for name, value in one.figures.items()}
    known: Mapping[str, float | None] = found | phases | figures
    return {name: float(value) for name, value in known.items() if value is not None}


def _series(one: Result) -> Iterator[tuple[str, int, float]]:
    """What was measured by epoch: name, epoch and value."""
    metric = _slug(one.metric_name) or "metric"
    for number, epoch in enumerate(one.epochs, 1):
        values = {metric: epoch.metric, "train_s": epoch.train_s, "valid_s": epoch.validation_s}
        for name, value in values.items():
            if value is not None:
                yield f"epoch/{name}", number, value


def _power(one: Result) -> Iterator[tuple[str, Sequence[float]]]:
    if one.power is not None:
        for device, watts in one.power.devices.items():
            yield f"power_w/{_slug(device)}", watts


def _title(one: Result) -> str:
    return f"{one.kind}-{one.block + 1}-{_key(one)[:8]}"


def _key(one: Result) -> str:
    """The run is known by what it gave: no two runs take the same time to the last digit."""
    return hashlib.sha256(json.dumps(one.as_data(), sort_keys=True).encode()).hexdigest()[:16]


def _slug(text: str) -> str:
    """A name that both tools and file systems take."""
    return re.sub(r"[^\w.-]+", "_", text).strip("_.")
