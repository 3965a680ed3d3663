"""`trainera run` and `trainera verify` of Keras scripts, as a user calls them."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.keras.environments import python_of, variables
from tests.tools.runs import text_difference

SCRIPT = """\
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.rand(23, 4)
model = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(5), keras.layers.BatchNormalization(),
     keras.layers.Dropout(0.2), keras.layers.Dense(1)]
)
model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
history = model.fit(x, x.sum(1), batch_size=7, epochs=2, verbose=0)
print(history.history)
model.save_weights("end.weights.h5")
"""


def call(folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python with these words in the environment of Keras 3."""
    return subprocess.run(
        [python_of("keras3"), *words],
        cwd=folder,
        env={**os.environ, **variables(), "JAX_ENABLE_X64": "0", **more},
        capture_output=True,
        text=True,
        timeout=200,
    )


MANY_STEPS = """\
import jax
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.rand(12000, 100)
parts = [keras.layers.Dense(512, activation="relu") for _ in range(6)]
model = keras.Sequential([keras.Input((100,)), *parts, keras.layers.Dense(4)])
model.compile("sgd", "mse")
model.fit(x[:64], x[:64, :4], verbose=0)
print(model.predict(x, batch_size=8, verbose=0).sum())


def cost(weights, rows):
    return (model.stateless_call(weights, [], rows)[0] ** 2).mean()


@jax.jit
def step(weights, rows):
    found, slope = jax.value_and_grad(cost)(weights, rows)
    return found, [one - 0.01 * down for one, down in zip(weights, slope)]


weights = [one.value for one in model.trainable_variables]
for first in range(0, 9000, 9):
    found, weights = step(weights, x[first : first + 9])
print(found)
"""
"""More steps than devices can have under way at a time, and nothing in between that waits."""


def test_more_devices_than_cores_do_not_wait_for_each_other_for_ever(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MANY_STEPS)
    done = call(tmp_path, "-m", "trainera", "run", "train.py", "-n", "3")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 2


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(SCRIPT)
    return tmp_path


def test_run_prints_what_the_script_prints(folder: Path) -> None:
    plain = call(folder, "train.py")
    (folder / "end.weights.h5").unlink()
    ours = call(folder, "-m", "trainera", "run", "train.py", "-n", "2")
    assert (plain.returncode, ours.returncode) == (0, 0), ours.stderr
    assert text_difference(plain.stdout, ours.stdout, 1e-4) is None
    assert (folder / "end.weights.h5").exists()


def test_verify_finds_them_equivalent(folder: Path) -> None:
    done = call(folder, "-m", "trainera", "verify", "train.py", "-n", "3", "--json")
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"]) == (0, "EQUIVALENT"), done.stdout + done.stderr
    compared = {one["quantity"] for one in verdict["largest"]}
    wanted = {"initial weights", "samples", "loss", "gradient", "learning rate", "weights"}
    assert compared >= wanted | {"buffers", "optimizer state", "saved", "printed", "final values"}
    assert verdict["steps"] == 8
    assert not (folder / "end.weights.h5").exists()


@pytest.mark.parametrize(
    ("old", "new", "quantity"),
    [
        ("batch_size=7", "batch_size=14", "samples"),
        ("SGD(0.1)", "SGD(0.2)", "learning rate"),
        ("Dropout(0.2)", "Dropout(0.3)", "loss"),
    ],
)
def test_verify_names_what_parts(folder: Path, old: str, new: str, quantity: str) -> None:
    assert old in SCRIPT
    (folder / "by_hand.py").write_text(SCRIPT.replace(old, new))
    words = ("verify", "--pair", "train.py", "by_hand.py", "-n", "2", "--json")
    done = call(folder, "-m", "trainera", *words)
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"]) == (1, "DIFFERENT"), done.stdout + done.stderr
    assert verdict["first"]["quantity"] == quantity


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"KERAS_BACKEND": "tensorflow"}, "Keras runs on tensorflow: set KERAS_BACKEND=jax"),
        ({"JAX_DEFAULT_PRNG_IMPL": "rbg"}, "random numbers of 'rbg' depend on the device"),
        ({"TRAINERA_DEVICES": "5"}, "5 devices were asked for, and JAX sees 1"),
    ],
)
def test_what_would_train_something_else_ends_at_once(
    folder: Path, setting: dict[str, str], words: str
) -> None:
    made = call(folder, "-m", "trainera", "convert", "train.py")
    assert made.returncode == 0, made.stderr
    assert "start it with KERAS_BACKEND=jax" in made.stderr
    done = call(folder, "train_jax.py", **setting)
    assert done.returncode == 1
    assert words in done.stderr
    assert not (folder / "end.weights.h5").exists()
