"""``trainera bench`` of Keras scripts: how they are measured, alone and next to PyTorch."""

import sys
from pathlib import Path

import pytest

from tests.bench.test_bench_verb import TRAIN, Program
from tests.keras.environments import python_of
from trainera.bench.design import Run, Subject
from trainera.bench.energy import find_meters
from trainera.bench.runner import Settings, run_once
from trainera.bench.strategies import SEQUENTIAL
from trainera.results import Result
from trainera.store import Store

NO_METERS = Path("/nowhere")

KERAS = """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.rand(50, 4).astype("float32")
y = (x.sum(1) > 2).astype("int32")
model = keras.Sequential([keras.layers.Dense(2)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("sgd", loss, metrics=["accuracy"])
model.fit(x, y, batch_size=8, epochs=2, validation_split=0.2)
model.save_weights("end.weights.h5")
"""


@pytest.mark.timeout(240)
def test_two_frameworks_in_one_experiment(folder: Path, trainera: Program) -> None:
    (folder / "with_torch.py").write_text(TRAIN)
    (folder / "with_keras.py").write_text(KERAS)
    command = (
        *("bench", "with_torch.py", "with_keras.py", "--python", f"keras={python_of('keras3')}"),
        *("--repetitions", "1", "--warm-up", "0"),
    )
    done = trainera(*command, "--strategies", "sequential,ddp:2,jax:2", "--dry-run")
    left_out = (
        "trainera: ddp is not tried on with_keras (Keras on JAX): it is for PyTorch",
        "trainera: jax is not tried on with_torch (PyTorch): it is for Keras on JAX",
    )
    assert all(line in done.stderr.splitlines() for line in left_out), done.stderr
    assert len(done.stdout.splitlines()) == 1 + 4 + 1
    done = trainera(*command, "--strategies", "sequential,jax:2")
    assert done.returncode == 0, done.stderr
    assert not (folder / "end.weights.h5").exists()
    with Store(folder / "trainera-bench.db", create=False) as store:
        results = {(one.workload, one.strategy): one for one in store.results()}
        (experiment,) = store.experiments()
    assert set(results) == {
        ("with_torch", "sequential"),
        ("with_keras", "sequential"),
        ("with_keras", "jax 2"),
    }
    versions = experiment.machine["frameworks"]
    assert versions["PyTorch"]["torch"] and versions["Keras on JAX"]["keras"].startswith("3.")
    alone, together = (results["with_keras", name] for name in ("sequential", "jax 2"))
    for one in (alone, together):
        assert (one.state, one.message, one.framework) == ("done", "", "Keras on JAX")
        assert (len(one.epochs), one.samples, len(one.peak_memory_bytes)) == (2, 80, 1)
        assert set(one.phases_s) == {"data", "compile", "step", "other"}
        assert one.train_s == pytest.approx(sum(one.phases_s.values()))
        assert one.phases_s["compile"] > one.phases_s["data"] > 0 < one.phases_s["step"]
    assert alone.metric == together.metric == alone.epochs[-1].metric
    report = trainera("report", "--format", "md")
    assert "## Your scripts, frameworks side by side" in report.stdout
    rows = [line for line in report.stdout.splitlines() if line.startswith("| Keras on JAX, ")]
    assert [row.split(" | ")[1] for row in rows] == ["sequential", "jax 2"]


SESSION = """\
import keras
import numpy as np

keras.utils.set_random_seed(0)
x = np.random.rand(50, 4).astype("float32")
y = x.sum(1)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
model.fit(x, y, batch_size=8, epochs=2, validation_data=(x[:10], y[:10]), verbose=2)
for batch in range(3):
    model.train_on_batch(x[:5], y[:5])
print("test mae", model.evaluate(x[10:20], y[10:20], verbose=0)[1])
model.predict(x[:5], verbose=0)
"""


def measured(folder: Path, script: str, python: str, *, phases: bool = True) -> Result:
    (folder / "session.py").write_text(script)
    subject = Subject(
        name="session",
        script=str(folder / "session.py"),
        metric="mae ([0-9.]+)",
        metric_name="mae",
        python=python,
    )
    run = Run(subject=subject, strategy=SEQUENTIAL, kind="timed", block=0, setting={})
    settings = Settings(phases=phases, threads=1, timeout_s=120)
    return run_once(run, settings, find_meters(NO_METERS))


@pytest.mark.parametrize(
    ("environment", "backend", "phases"),
    [
        ("keras3", "jax", True),
        ("keras3", "jax", False),
        ("keras3", "tensorflow", True),
        ("keras2", "tensorflow", True),
    ],
)
def test_a_session_is_measured_on_every_backend(
    environment: str,
    backend: str,
    phases: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KERAS_BACKEND", backend)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    found = measured(tmp_path, SESSION, python_of(environment), phases=phases)
    assert (found.state, found.message) == ("done", "")
    first, second, by_hand = found.epochs
    assert first.metric is not None and second.metric is not None
    assert by_hand.metric is None
    assert first.validation_s and second.validation_s and by_hand.validation_s is None
    assert found.test_s and found.validation_s == first.validation_s + second.validation_s
    # Of batches that are given to TensorFlow one by one only those of `fit` can be counted.
    assert found.samples == (115 if backend == "jax" else 100)
    expected = {"data", "compile", "step", "other"} if backend == "jax" else {"step", "other"}
    assert set(found.phases_s) == (expected if phases else set())
    printed = found.metric
    assert printed is not None and printed not in (first.metric, second.metric)


LOADER = """\
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np


class Batches(keras.utils.PyDataset):
    def __len__(self):
        return 3

    def __getitem__(self, number):
        return np.ones((4 - number, 2), "float32"), np.ones(4 - number, "float32")


model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse", metrics=["mae"])
model.fit(Batches(), epochs=2, verbose=0)
model.fit((one for one in [(np.ones((4, 2)), np.ones(4))] * 2), epochs=1, verbose=0)
"""


def test_batches_from_a_loader_are_counted_as_they_come(tmp_path: Path) -> None:
    found = measured(tmp_path, LOADER, python_of("keras3"))
    assert (found.state, found.message) == ("done", "")
    assert (len(found.epochs), found.samples) == (3, 2 * 9 + 8)
    assert found.metric == found.epochs[-1].metric is not None


def program(place: Path, text: str) -> Path:
    place.write_text(f"#!/bin/sh\n{text}\n")
    place.chmod(0o755)
    return place


def test_a_python_that_lacks_something(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from trainera.cli.main import main

    monkeypatch.setenv("COLUMNS", "300")
    bare = program(folder / "bare", f'exec {sys.executable} -S "$@"')
    mute = program(folder / "mute", "exit 1")
    (folder / "train.py").write_text(KERAS)
    assert main(["bench", "mnist_192_keras", "--python", f"keras={bare}"]) == 1
    reason = "mnist_192_keras needs keras and jax and numpy: install it, or name a Python that has"
    assert f"{reason} it: --python jax=PATH" in capfd.readouterr().err
    assert main(["bench", "train.py", "--python", f"keras={bare}"]) == 1
    assert "train.py needs keras and jax: install it, or name" in capfd.readouterr().err
    assert main(["bench", "train.py", "--python", f"keras={mute}"]) == 1
    assert f"--python {mute}: it does not answer" in capfd.readouterr().err
    assert not (folder / "trainera-bench.db").exists()


def test_an_engine_that_cannot_run_where_its_scripts_do(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from trainera.cli.main import main

    monkeypatch.setenv("COLUMNS", "300")
    (folder / "train.py").write_text(KERAS.replace('"jax"', '"tensorflow"'))
    command = ["bench", "train.py", "--python", f"keras={python_of('keras3')}", "--dry-run"]
    assert main([*command, "--strategies", "sequential,horovod:2"]) == 1
    assert "Horovod for tf.keras needs horovod, which is not installed" in capfd.readouterr().err
    assert main(command) == 0
    assert capfd.readouterr().out.count("train  sequential") == 6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--python", "kears=python"], "--python kears=python: name one of torch, keras, jax"),
        (
            ["--python", "keras=nowhere/python"],
            "--python keras=nowhere/python: no program is there",
        ),
        (["--python", "keras"], "--python keras: write FRAMEWORK=PATH"),
        (["--strategies", "jax:2"], "jax is not tried on quick (PyTorch): it is for Keras on JAX"),
        (["--config", "kind.toml"], "python = 'keras' is not of the kind that python has"),
    ],
)
def test_wrong_usage_of_pythons(
    arguments: list[str],
    message: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from trainera.cli.main import main

    monkeypatch.setenv("COLUMNS", "200")
    (folder / "quick.py").write_text("print('accuracy 0.5')\n")
    (folder / "kind.toml").write_text('python = "keras"\n')
    assert main(["bench", "quick.py", *arguments]) == 2
    assert message in capfd.readouterr().err
    assert not (folder / "trainera-bench.db").exists()
