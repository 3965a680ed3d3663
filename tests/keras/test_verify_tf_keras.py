"""`trainera verify` of tf.keras 2: converted scripts are equivalent, and nothing is left behind."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.keras.environments import python_of, quiet
from tests.keras.mutants import SCRIPTS
from tests.tools.corpus import settings, write_converted
from tests.tools.observed import observed, verdict_on
from tests.tools.runs import Runner
from trainera.verify.trace import read_worker
from trainera.verify.verdict import Outcome

CORPUS = Path(__file__).with_name("corpus") / "keras2"
AS_DIFFERENT_AS_CAN_BE = {
    "callbacks_csv": 2,
    "gan_batches": 3,
    "tape_function": 2,
    "vae_train_step": 3,
}
"""Cases of the corpus, and by how many workers they are trained."""

NARROW = """\
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.mixed_precision.set_global_policy("mixed_float16")
x = tf.random.normal([21, 4])
y = tf.cast(tf.reduce_sum(x, axis=1, keepdims=True) > 0, tf.float32)


def loss(truth, output):
    return tf.reduce_mean(tf.square(tf.cast(truth, "float32") - tf.constant(0.5) * output))


model = keras.Sequential([keras.Input((4,)), layers.Dense(5), layers.BatchNormalization(),
                          layers.Dropout(0.2), layers.Dense(1, dtype="float32")])
model.compile(keras.optimizers.SGD(0.1), loss, metrics=["mae"], jit_compile=True)
history = model.fit(x, y, batch_size=8, epochs=2, verbose=0,
                    callbacks=[keras.callbacks.TensorBoard("records")])
print(history.history)
model.save_weights("deep/end")
model.save_weights("end.h5")
"""
"""No seed, numbers of 32 and 16 bits, XLA, files that are written from C++."""


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_verify_finds_them_equivalent_and_leaves_files_as_they_were(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(NARROW)
    (tmp_path / "end.h5").write_text("the user's own")
    before = files_of(tmp_path)
    done = subprocess.run(
        [python_of("keras2"), "-m", "trainera", "verify", "train.py", "-n", "2", "--json"],
        cwd=tmp_path,
        env={**os.environ, **quiet()},
        capture_output=True,
        text=True,
        timeout=400,
    )
    assert done.stdout, done.stderr
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"]) == (0, "EQUIVALENT"), done.stdout + done.stderr
    compared = {one["quantity"] for one in verdict["largest"]}
    wanted = {"initial weights", "samples", "loss", "gradient", "learning rate", "weights"}
    wanted |= {"buffers", "optimizer state", "metrics", "saved", "printed", "final values"}
    assert compared >= wanted
    assert all(one["relative"] < 1e-11 for one in verdict["largest"]), verdict["largest"]
    assert verdict["steps"] == 6
    assert files_of(tmp_path) == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["end.h5", "train.py"]


@pytest.mark.parametrize("name", AS_DIFFERENT_AS_CAN_BE)
def test_case_is_equivalent(name: str, keras2: Runner, tmp_path: Path) -> None:
    case, workers = CORPUS / name, AS_DIFFERENT_AS_CAN_BE[name]
    arguments = [str(word) for word in settings(case).get("arguments", [])]
    script = write_converted(case, tmp_path / "source", engine="horovod")
    alone = observed(keras2, case / "train.py", tmp_path, 0, arguments=arguments, timeout=200)
    together = observed(
        keras2, script, tmp_path, workers, arguments=arguments, timeout=300, engine="horovod"
    )
    verdict = verdict_on(alone, together, script, workers)
    assert verdict.outcome is Outcome.EQUIVALENT, verdict
    assert {"samples", "loss", "gradient", "weights"} <= {one.quantity for one in verdict.largest}


def test_numbers_drawn_for_a_share_leave_it_undecided(keras2: Runner, tmp_path: Path) -> None:
    """By hand every worker drops out of its own rows: that may be a mistake, and may be not."""
    for name in ("normalised", "normalised_by_hand"):
        text = (SCRIPTS / f"{name}.py").read_text()
        assert text.count("keras.layers.ReLU()") == 1
        changed = text.replace("keras.layers.ReLU()", "keras.layers.Dropout(0.3)")
        (tmp_path / f"{name}.py").write_text(changed)
    alone = observed(keras2, tmp_path / "normalised.py", tmp_path, 0, timeout=200)
    script = tmp_path / "normalised_by_hand.py"
    together = observed(keras2, script, tmp_path, 2, timeout=200, engine="horovod")
    verdict = verdict_on(alone, together, script, 2)
    assert verdict.outcome is Outcome.UNDECIDED
    assert "dropout of a layer of tf.keras" in verdict.reason


@pytest.mark.parametrize(("base", "limit", "steps"), [
    ("classifier", {"epochs": 1}, 4),
    ("loop", {"steps": 3}, 3),
    ("normalised", {"steps": 2}, 2),
])  # fmt: skip
def test_ends_when_it_is_enough(
    base: str, limit: dict[str, int], steps: int, keras2: Runner, tmp_path: Path
) -> None:
    side = observed(keras2, SCRIPTS / f"{base}.py", tmp_path, 0, timeout=200, limit=limit)
    assert side.good, side.words
    worker = read_worker(side.directory, 0)
    assert len(worker.steps) == steps
    assert worker.final is not None
