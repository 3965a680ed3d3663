"""Strategies that are another training by nature: measured, and never taken for the script."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.conftest import Program
from tests.bench.made import made_runs
from tests.keras.environments import python_of
from trainera.bench.platforms import Offer, Platform, Pythons
from trainera.bench.request import Request, work_out
from trainera.errors import UserError
from trainera.pipeline import plan_script
from trainera.report.document import as_csv, as_markdown, document
from trainera.store import Store

SCRIPT = """\
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(1)
x = np.random.rand(300, 20).astype("float32")
y = (x.sum(1) > 10).astype("int32")
model = tf.keras.Sequential(
    [layers.Dense(16, activation="relu"), layers.BatchNormalization(), layers.Dense(2)]
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile("adam", loss, metrics=["accuracy"])
model.fit(x, y, batch_size=30, epochs=2, validation_split=0.2, class_weight={0: 1.0, 1: 2.0})
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(100).filter(lambda a, b: b < 2).batch(32)
history = model.fit(data, epochs=1, verbose=0, validation_data=(x, y)).history
found = model.evaluate(x, y, verbose=0)[1]
told = (model.predict(x, verbose=0).argmax(1) == y).mean()
print("figure off:", abs(found - told) + abs(found - history["val_accuracy"][0]))
try:
    model.fit(((x[:30], y[:30]) for _ in range(2)), epochs=1, verbose=0)
except SystemExit as error:
    assert "train on arrays or on tf.data" in str(error)
    print("figure refused: 1")
print("accuracy", round(found, 4))
model.save_weights("end.weights.h5")
"""
MARK = "TRAINERA_TEST_MARK"


def still_there(mark: str) -> list[Path]:
    """Processes that were given a variable of that value, this one's children apart or not."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (place / "environ").read_bytes().split(b"\0"):
                found.append(place)
        except OSError:  # it is gone, or somebody else's
            continue
    return found


@pytest.mark.timeout(300)
def test_both_are_measured_on_two_workers(
    folder: Path, trainera: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MARK, str(folder))
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    (folder / "train.py").write_text(SCRIPT)
    done = trainera(
        *("bench", "train.py", "--python", f"tensorflow={python_of('keras2')}"),
        *("--strategies", "parameter-server:2,central_storage:2", "--timeout", "90"),
        *("--repetitions", "1", "--warm-up", "0", "--energy-runs", "0"),
    )
    assert done.returncode == 0, done.stderr
    assert "trainera: parameter-server is another training" in done.stderr
    assert "trainera: central-storage is another training" in done.stderr
    assert not (folder / "end.weights.h5").exists()
    with Store(folder / "trainera-bench.db", create=False) as store:
        results = {one.strategy: one for one in store.results()}
    assert set(results) == {
        "parameter-server 2 (another training)",
        "central-storage 2 (another training)",
    }
    for one in results.values():
        assert (one.state, one.message, one.workers) == ("done", "", 2)
        assert one.another and one.metric is not None
        assert (len(one.epochs), one.samples) == (3 if "central" not in one.strategy else 4, 480)
        assert one.figures["off"] < 1e-6
    servers, devices = (
        next(one for name, one in results.items() if name.startswith(start))
        for start in ("parameter-server", "central-storage")
    )
    assert "refused" in servers.figures and "refused" not in devices.figures
    # The coordinator, two workers and the server with the weights; or one process.
    assert (len(servers.peak_memory_bytes), len(devices.peak_memory_bytes)) == (4, 1)
    assert not [one for one in still_there(str(folder)) if one.name != str(os.getpid())]
    report = trainera("report", "--format", "md")
    assert "all that was measured is another training than the script's" in report.stdout


WHY = "each worker learns by itself"
NAME = "parameter-server 2 (another training)"


def told(runs: dict[str, list[float]]) -> str:
    results = [
        one
        for name, times_s in runs.items()
        for one in made_runs(
            name,
            times_s,
            workers=1 if name == "sequential" else 2,
            another=WHY if name == NAME else "",
        )
    ]
    return as_markdown(document("runs", results))


def test_it_is_never_the_winner_however_fast_and_good() -> None:
    report = told({
        "sequential": [10.0, 10.1, 10.2, 10.1, 10.0],
        "horovod 2": [6.0, 6.1, 6.0, 6.1, 6.2],
        NAME: [1.0, 1.1, 1.0, 1.1, 1.2],
    })  # fmt: skip
    assert "**Use horovod 2: " in report
    assert (
        "- parameter-server 2 (another training) does not stand for the script, whatever its time "
        f"and accuracy: {WHY}." in report
    )
    assert "| parameter-server 2 (another training) | 5 |" in report
    assert "equivalent" not in report.lower()


def test_alone_beside_the_sequential_run_it_leaves_nothing_to_choose() -> None:
    report = told({"sequential": [10.0, 10.1, 10.2, 10.1, 10.0], NAME: [1.0] * 5})
    assert "**Use sequential: all others are another training.**" in report


def test_the_raw_figures_say_it_too() -> None:
    csv = as_csv(document("runs", made_runs(NAME, [1.0], another=WHY))).splitlines()
    assert csv[0].endswith(",another_training") and csv[1].endswith(f",{WHY}")


def test_it_is_not_the_best_of_its_framework() -> None:
    runs = [
        *made_runs("sequential", [5.0], framework="PyTorch", task="t", workload="a"),
        *made_runs("sequential", [9.0], framework="Keras", task="t", workload="b"),
        *made_runs(NAME, [1.0], framework="Keras", task="t", workload="b", another=WHY),
    ]
    (side,) = document("runs", runs).frameworks
    assert "Keras with sequential" in side.text and "another" not in side.text


KERAS = Platform(framework="keras", backend="tensorflow")
OFFERS = [
    Offer(engine="horovod", platform=KERAS),
    Offer(engine="parameter-server", platform=KERAS, another=WHY),
]


def planned(script: Path, **parameters: object) -> list[str]:
    request = Request(workloads=(str(script),), **parameters)  # type: ignore[arg-type]
    found = replace(KERAS, backend="")  # so that no module is asked for that is not here
    pythons = Pythons({})
    pythons.lacks = lambda *_: []  # type: ignore[method-assign]
    runs = work_out(request, OFFERS, pythons, lambda _: found, meters=False).runs
    return list(dict.fromkeys(sorted(run.strategy.name for run in runs)))


def test_it_is_tried_by_name_only(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("model.fit(x, y)\n")
    assert planned(script) == ["horovod 1", "horovod 2", "sequential"]
    expected = ["parameter-server 2 (another training)", "sequential"]
    assert planned(script, engines=("parameter_server",), workers=(2,)) == expected
    assert planned(script, strategies=("parameter_server:2", "sequential")) == expected
    with pytest.raises(UserError, match="has no options — write parameter-server:2"):
        planned(script, strategies=("parameter-server:2:per-worker",))


LOOP = """\
import tensorflow as tf

for x, y in data:
    model.train_on_batch(x, y)
"""


@pytest.mark.parametrize("engine", ["parameter-server", "central-storage"])
def test_loops_past_fit_are_refused(engine: str, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"from tensorflow import keras\n{LOOP}")
    (refusal,) = plan_script(script, engine).refusals
    assert (refusal.rule, refusal.place.line) == ("fit-only", 5)
    assert "only steps that fit() takes are shared out" in refusal.why
