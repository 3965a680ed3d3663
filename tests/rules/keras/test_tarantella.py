"""What is converted for Tarantella: text alone, because its library is in no registry.

What it does was read in its documentation and source.
"""

import textwrap
from pathlib import Path

import pytest

from trainera.errors import UserError
from trainera.pipeline import convert_script
from trainera.plan import Options, Plan

HEAD = """\
import numpy as np
import tensorflow as tf
from tensorflow import keras
"""
SCRIPT = (
    HEAD
    + """
tf.random.set_seed(1)
(x, y), test = keras.datasets.mnist.load_data()
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(60000, seed=1).batch(32)


def build():
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile("sgd", "sparse_categorical_crossentropy")
    return model


model = build()
model.fit(data, epochs=3)
loss = model.evaluate(data)
print("loss", loss)
np.savetxt("loss.txt", [loss])
model.save("model.keras")
"""
)


def converted(text: str, folder: Path, options: Options | None = None) -> tuple[Plan, str]:
    script = folder / "train.py"
    script.write_text(text)
    plan, files = convert_script(script, "tarantella", options)
    return plan, files[0].after.decode() if files else ""


def test_the_network_is_handed_over_before_it_is_compiled(tmp_path: Path) -> None:
    plan, after = converted(SCRIPT, tmp_path)
    assert not plan.refusals
    before = SCRIPT.splitlines()
    assert [line for line in after.splitlines() if line not in before] == [
        "import os",
        "import sys",
        "import tarantella as tnt",
        'sys.stdout = sys.stdout if tnt.is_master_rank() else open(os.devnull, "w")',
        "    model = tnt.Model(model)",
        'np.savetxt("loss.txt", [loss]) if tnt.is_master_rank() else None',
    ]
    assert "    model = tnt.Model(model)\n    model.compile(" in after
    compile(after, "train_tarantella.py", "exec")


def test_what_everybody_has_to_know_is_said(tmp_path: Path) -> None:
    plan, _ = converted(SCRIPT, tmp_path)
    notes = [f"{note.what} — {note.why}" for note in plan.notes]
    for words in (
        "this output was never run — Tarantella is in no package registry",
        "losses and metrics are means of the ranks' means",
        "shuffle() without a seed of its own is given one by Tarantella",
        "every rank draws random numbers for itself",
        "several that fetch at once write over each other",
    ):
        assert any(words in note for note in notes), words


def test_it_is_handed_over_once_for_each_network(tmp_path: Path) -> None:
    text = (
        HEAD
        + """
for width in (8, 16):
    model = keras.Sequential([keras.layers.Dense(width)])
    model.compile("sgd", "mse")
    model.fit(data, epochs=1)
    model.trainable = False
    model.compile("adam", "mse")
    model.fit(data, epochs=1)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
"""
    )
    plan, after = converted(text, tmp_path)
    assert not plan.refusals
    assert after.count("tnt.Model(model)") == 2
    assert '= tnt.Model(model)\n    model.compile("sgd"' in after
    assert 'False\n    model.compile("adam"' in after


FIT = 'model = keras.Sequential()\nmodel.compile("sgd", "mse")\nmodel.fit(data, epochs=1)\n'


def indented(text: str) -> str:
    return textwrap.indent(text, "    ")


@pytest.mark.parametrize(
    ("text", "rule", "words"),
    [
        (FIT.replace("(data,", "(x, y,"), "network", "fit() is given arrays"),
        (FIT.replace("data,", "data, batch_size=8,"), "network", "takes nothing but tf.data"),
        (FIT + "model.evaluate(x, y)\n", "network", "evaluate() is given arrays"),
        (FIT.replace("epochs", "validation_data=(x, y), epochs"), "network", "given arrays"),
        (
            "class Rows(keras.utils.Sequence):\n    pass\n\n\ndata = Rows()\n" + FIT,
            "network",
            "batches that Python makes",
        ),
        (
            "def rows():\n    yield 1\n\n\n" + FIT.replace("data", "rows()"),
            "network",
            "batches that Python makes",
        ),
        (
            'keras.Sequential().compile("sgd", "mse")\nmodel.fit(data, epochs=1)\n',
            "network",
            "has no name",
        ),
        (
            "def go(model):\n" + indented(FIT.partition("\n")[2]) + "\n\ngo(m)\n",
            "network",
            "a network that it was given",
        ),
        (
            "model = make()\nfor _ in range(2):\n" + indented(FIT.partition("\n")[2]),
            "network",
            "made before a loop",
        ),
        ("model.fit(data, epochs=1)\n", "network", "no compile() of a network"),
        (FIT + "model.train_on_batch(x)\n", "fit-only", "a training loop of the script's own"),
        (
            FIT + "with tf.GradientTape() as tape:\n    pass\n",
            "fit-only",
            "a training loop of the script's own",
        ),
        (FIT + "keras.layers.BatchNormalization()\n", "shares", "--batchnorm local"),
        (FIT + "keras.applications.ResNet50()\n", "shares", "normalises by the batch"),
        (
            "from tensorflow.keras.applications.resnet import ResNet50\n" + FIT,
            "shares",
            "normalises by the batch",
        ),
        (FIT + "keras.layers.Dropout(0.1)\n", "shares", "--random own"),
        (FIT + "keras.optimizers.Ftrl()\n", "shares", "does not support this optimizer"),
        (
            FIT + 'keras.losses.MeanSquaredError(reduction="sum")\n',
            "shares",
            "the sum would be divided",
        ),
        (
            FIT + "keras.losses.MeanSquaredError(reduction=tf.keras.losses.Reduction.SUM)\n",
            "shares",
            "the sum would be divided",
        ),
        (
            "class Net(keras.Model):\n    def train_step(self, data):\n        pass\n\n\n" + FIT,
            "shares",
            "no place for a step",
        ),
        (FIT + 'keras.models.load_model("a.keras")\n', "shares", "compiled already"),
        (
            FIT + 'with open("a.txt", "w") as file:\n    print(model.evaluate(data), file=file)\n',
            "once",
            "more than one plain statement",
        ),
        (FIT + 'np.save("a.npy", model.predict(data))\n', "once", "for ever"),
        (FIT + 'other.save("a.keras")\n', "once", "more than one plain statement"),
        (FIT + "import uuid\nfolder = uuid.uuid4()\n", "agree", "each process would have another"),
        ("tnt = 1\n" + FIT, "distribution", "a 'tnt' of its own"),
    ],
)
def test_refused(text: str, rule: str, words: str, tmp_path: Path) -> None:
    plan, after = converted(HEAD + text, tmp_path)
    assert not after
    assert [refusal.rule for refusal in plan.refusals] == [rule]
    (refusal,) = plan.refusals
    assert words in f"{refusal.what} — {refusal.why} — {refusal.do}"


def test_what_is_meant_is_taken(tmp_path: Path) -> None:
    text = HEAD + FIT + "keras.layers.BatchNormalization()\nkeras.layers.Dropout(0.1)\n"
    plan, after = converted(text, tmp_path, Options(batchnorm="local", random="own"))
    assert not plan.refusals and "tnt.Model(model)" in after
    for fine in ("x.sum()", "keras.applications.VGG16()", "re.compile('a', re.I)"):
        assert converted(f"import re\n{HEAD}{FIT}{fine}\n", tmp_path)[1]


def test_a_batch_that_grows_is_not_for_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Tarantella computes with the whole batch"):
        converted(HEAD + FIT, tmp_path, Options(batch="per-worker"))


def test_what_is_written_for_it_is_not_converted_again(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(f"{HEAD}import tarantella as tnt\n{FIT}tnt.Model(model)\n")
    plan, _ = convert_script(script, "horovod")
    (refusal,) = plan.refusals
    assert refusal.rule == "already-distributed"
    assert "launch it with: tarantella -n N -- train.py" in refusal.do
