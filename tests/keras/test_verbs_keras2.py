"""`trainera run` of tf.keras scripts, as a user calls it."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.keras.environments import python_of, quiet
from tests.tools.runs import text_difference

SCRIPT = """\
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
x = np.random.rand(23, 4)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(5), tf.keras.layers.BatchNormalization(),
     tf.keras.layers.Dropout(0.2), tf.keras.layers.Dense(1)]
)
model.compile(tf.keras.optimizers.SGD(0.1), "mse", metrics=["mae"])
history = model.fit(x, x.sum(1), batch_size=7, epochs=2, verbose=0)
print(history.history)
model.save_weights("end.h5")
"""


def call(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python with these words in the environment of tf.keras 2."""
    return subprocess.run(
        [python_of("keras2"), *words],
        cwd=folder,
        env={**os.environ, **quiet()},
        capture_output=True,
        text=True,
        timeout=200,
    )


def run(folder: Path, script: str, engine: str) -> "subprocess.CompletedProcess[str]":
    (folder / "train.py").write_text(script)
    return call(folder, "-m", "trainera", "run", "train.py", "-n", "2", "--engine", engine)


@pytest.mark.parametrize("engine", ["horovod", "multiworker"])
def test_run_prints_what_the_script_prints(tmp_path: Path, engine: str) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    plain = call(tmp_path, "train.py")
    (tmp_path / "end.h5").unlink()
    ours = run(tmp_path, SCRIPT, engine)
    assert (plain.returncode, ours.returncode) == (0, 0), ours.stderr
    assert text_difference(plain.stdout, ours.stdout, 1e-4) is None
    assert (tmp_path / "end.h5").exists()


def test_batches_that_workers_do_not_share_end_the_run(tmp_path: Path) -> None:
    own = SCRIPT.replace("np.random.rand(23, 4)", "np.random.default_rng().random((23, 4))")
    done = run(tmp_path, own, "multiworker")
    assert done.returncode == 1
    assert "the workers were given different batches" in done.stderr
    assert not done.stdout and not (tmp_path / "end.h5").exists()


def test_labels_that_workers_do_not_share_end_the_run(tmp_path: Path) -> None:
    own = "model.train_on_batch(x, np.random.default_rng().random(23))\n"
    done = run(tmp_path, SCRIPT + own, "horovod")
    assert done.returncode == 1
    assert "the workers compute different losses" in done.stderr


def test_labels_that_are_not_as_many_as_rows_end_the_run(tmp_path: Path) -> None:
    one = "model.fit(((x[:9], x[:1].sum(1)) for _ in range(2)), verbose=0)\n"
    done = run(tmp_path, SCRIPT + one, "horovod")
    assert done.returncode == 1
    assert "a batch has not as many labels as rows" in done.stderr


def test_a_script_that_fails_fails_once(tmp_path: Path) -> None:
    done = run(tmp_path, SCRIPT + "raise KeyError('wrong name')\n", "horovod")
    assert done.returncode == 1
    assert done.stderr.count("KeyError: 'wrong name'") == 1, done.stderr
