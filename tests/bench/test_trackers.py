"""Runs that are handed to TensorBoard and MLflow, read back by their own libraries."""

from pathlib import Path

import pytest
from made import made_runs
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from trainera.cli.main import main
from trainera.report.trackers import to_mlflow, to_tensorboard
from trainera.results import Result
from trainera.store import Store

RUNS = [
    *made_runs("sequential", [10.0, 10.1], energy_j=200.0),
    *made_runs("ddp 2", [5.0, 5.1], workers=2, setting={"--batch-size": "64"}),
    Result(workload="digits", strategy="horovod 2", workers=2, state="failed", message="broken"),
]


def test_tensorboard_reads_every_finished_run(tmp_path: Path) -> None:
    assert to_tensorboard(RUNS, tmp_path) == 5
    folders = sorted(path for path in tmp_path.glob("*/*/*") if path.is_dir())
    assert [path.parent.name for path in folders] == ["ddp_2"] * 2 + ["sequential"] * 3
    events = EventAccumulator(str(next(path for path in folders if "timed-1" in path.name)))
    events.Reload()
    epochs = [(one.step, one.value) for one in events.Scalars("epoch/accuracy")]
    assert epochs == [(1, pytest.approx(0.45)), (2, pytest.approx(0.9))]
    assert events.Scalars("run/total_s")[0].value == 5.0
    energy = EventAccumulator(str(next(path for path in folders if "energy" in path.name)))
    energy.Reload()
    assert [one.value for one in energy.Scalars("power_w/package-0")] == [20.0, 30.0]


def test_tensorboard_is_given_a_run_once(tmp_path: Path) -> None:
    assert to_tensorboard(RUNS, tmp_path) == 5
    assert to_tensorboard(RUNS, tmp_path) == 0


def test_mlflow_reads_every_run(tmp_path: Path) -> None:
    import mlflow

    assert to_mlflow(RUNS, tmp_path, "trainera") == 6
    assert to_mlflow(RUNS, tmp_path, "trainera") == 0
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow.db")
    experiment = client.get_experiment_by_name("trainera")
    runs = client.search_runs([experiment.experiment_id])
    by_name = {run.info.run_name: run for run in runs}
    assert len(runs) == 6
    assert by_name["digits horovod 2"].info.status == "FAILED"
    assert by_name["digits horovod 2"].data.tags["trainera.message"] == "broken"
    found = next(run for run in runs if run.data.metrics.get("total_s") == 5.0)
    assert found.data.params["strategy"] == "ddp 2"
    assert found.data.params["setting.--batch-size"] == "64"
    history = client.get_metric_history(found.info.run_id, "epoch/accuracy")
    assert [(one.step, one.value) for one in history] == [(1, 0.45), (2, 0.9)]


def test_by_the_command_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with Store(folder / "trainera-bench.db") as store:
        number = store.add_experiment("a", {}, {}, [{}] * len(RUNS))
        planned = store.planned(number)
        store.finish({one.id: run for one, run in zip(planned, RUNS, strict=True)})
    assert main(["report", "--format", "tensorboard"]) == 0
    assert "5 runs written; 1 were there already or did not finish" in capfd.readouterr().err
    assert any(Path("runs").rglob("events.*"))
    assert main(["report", "--format", "mlflow", "-o", "kept"]) == 0
    assert "6 runs written. Look at them with: mlflow ui" in capfd.readouterr().err
    assert Path("kept/mlflow.db").exists()
