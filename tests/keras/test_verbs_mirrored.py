"""The engine `mirrored` as a user calls it, on both lines of Keras, and what it says no to."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.keras.environments import python_of, variables
from tests.tools.runs import text_difference

SCRIPT = """\
import os
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
import keras
import numpy as np
import tensorflow as tf

keras.backend.set_floatx("float64")
keras.utils.set_random_seed(3)
layers = keras.layers
x = np.random.rand(23, 6, 6, 1)
body = keras.Sequential([
    layers.Input((6, 6, 1)), layers.Conv2D(3, 3, activation="relu"), layers.MaxPooling2D(2),
])
head = keras.Sequential([
    layers.Input((2, 2, 3)), layers.Flatten(), layers.Dense(3), layers.Dense(1),
])

# A map of what the network looks at: gradients with respect to what is between two layers.
with tf.GradientTape(persistent=True) as tape:
    features = body(x)
    out = head(features)
    total = tf.reduce_sum(out**2) + tf.reduce_sum(features**3)
print(tf.reduce_sum(tape.gradient(total, features) ** 2).numpy())
print(tf.reduce_sum(tape.jacobian(out, features) ** 2).numpy())


@tf.function
def penalty(batch):
    features = body(batch)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(features)
            out = head(features)
        slope = inner.gradient(out, features)
        loss = tf.reduce_sum(slope**2) + tf.reduce_sum(tf.gather(features, [0, 0]))
    return tf.gradients(out, features)[0], loss, outer.gradient(loss, head.trainable_weights)[0]


slopes, loss, pull = penalty(tf.constant(x))
print(tf.reduce_sum(slopes**2).numpy(), loss.numpy(), tf.reduce_sum(pull**2).numpy())


@tf.function
def forward(batch):
    return head(body(batch))


with tf.GradientTape() as tape:  # differentiates a graph that is there already
    loss = tf.reduce_sum(forward(x) ** 2)
print([float(tf.reduce_sum(one**2)) for one in tape.gradient(loss, body.trainable_weights)])


@tf.function
def repeated(batch):
    features = body(batch)
    for _ in tf.range(3):
        features = features + tf.reshape(head(features), [-1, 1, 1, 1])
    return tf.reduce_sum(features**2)


with tf.GradientTape() as tape:
    loss = repeated(x)
print([float(tf.reduce_sum(one**2)) for one in tape.gradient(loss, body.trainable_weights)])
print(head(body(x[:1])).numpy().sum())
model = keras.Sequential([body, layers.BatchNormalization(), layers.Dropout(0.3), head])
model.compile("adam", "mse", metrics=["mae"], **eval(os.environ.get("OPTIONS", "{}")))
print(model.fit(x, x.sum((1, 2, 3)), batch_size=7, epochs=2, verbose=0).history)
print(len(tf.config.list_logical_devices()), file=sys.stderr)
"""
LINES = {"keras2": 1e-9, "keras3": 1e-5}
"""How near numbers are: Keras 3 normalises in 32 bits, even if told otherwise."""


def call(line: str, folder: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """Runs Python with these words in the environment of a line of Keras."""
    return subprocess.run(
        [python_of(line), *words],
        cwd=folder,
        env={**os.environ, **variables(), "KERAS_BACKEND": "tensorflow", **more},
        capture_output=True,
        text=True,
        timeout=280,
    )


@pytest.mark.parametrize("line", LINES)
def test_run_prints_what_the_script_prints(tmp_path: Path, line: str) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    plain = call(line, tmp_path, "train.py")
    assert plain.returncode == 0, plain.stderr
    ours = call(line, tmp_path, *"-m trainera run train.py -n 3 --engine mirrored".split())
    assert ours.returncode == 0, ours.stderr
    assert text_difference(plain.stdout, ours.stdout, LINES[line]) is None
    assert "3" in ours.stderr.splitlines()


def test_a_file_with_its_runtime(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    words = "-m trainera convert train.py --engine mirrored --standalone -o alone.py"
    made = call("keras3", tmp_path, *words.split())
    assert made.returncode == 0, made.stderr
    assert "from trainera" not in (tmp_path / "alone.py").read_text()
    plain = call("keras3", tmp_path, "alone.py")
    ours = call("keras3", tmp_path, "alone.py", TRAINERA_DEVICES="2")
    assert (plain.returncode, ours.returncode) == (0, 0), ours.stderr
    assert text_difference(plain.stdout, ours.stdout, LINES["keras3"]) is None
    assert "1" in plain.stderr.splitlines() and "2" in ours.stderr.splitlines()


@pytest.mark.parametrize(
    ("before", "after", "options", "message"),
    [
        ("", "", {"OPTIONS": "{'jit_compile': True}"}, "makes a program for one device"),
        ('"tensorflow"', 'os.environ["OTHER"]', {"OTHER": "jax"}, "set KERAS_BACKEND=tensorflow"),
        (
            "import tensorflow as tf\n",
            "import tensorflow as tf\ntf.compat.v1.disable_eager_execution()\n",
            {},
            "runs TensorFlow as version 1 did",
        ),
    ],
)
def test_what_it_cannot_do(
    tmp_path: Path, before: str, after: str, options: dict[str, str], message: str
) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace(before, after, 1))
    words = "-m trainera run train.py -n 2 --engine mirrored".split()
    done = call("keras3", tmp_path, *words, **options)
    assert done.returncode == 1
    assert message in done.stderr, done.stderr


@pytest.mark.parametrize("engine", ["horovod", "multiworker"])
def test_keras_3_of_tensorflow_has_one_engine(tmp_path: Path, engine: str) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    words = f"-m trainera run train.py -n 2 --engine {engine}".split()
    done = call("keras3", tmp_path, *words)
    assert done.returncode == 3
    assert "the script is written for Keras 3" in done.stderr
    assert "use the engine mirrored" in " ".join(done.stderr.split())


def test_verify_says_where_it_can_look(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    words = "-m trainera verify train.py -n 2 --engine mirrored".split()
    done = call("keras3", tmp_path, *words)
    assert done.returncode != 0
    assert "this is Keras 3 on tensorflow" in " ".join((done.stdout + done.stderr).split())


@pytest.mark.parametrize("line", LINES)
def test_nothing_is_computed_before_the_devices_are_made(tmp_path: Path, line: str) -> None:
    (tmp_path / "train.py").write_text(
        "import tensorflow as tf\nfrom trainera import mirror_crew\n\n"
        "print(tf.constant(1) + 1)\nmirror_crew.join_devices()\n"
    )
    done = call(line, tmp_path, "train.py", TRAINERA_DEVICES="2")
    assert done.returncode == 1
    assert "before the script joined" in done.stderr
