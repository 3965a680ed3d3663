"""Scripts of a few lines, and what becomes of them."""

import difflib
import tempfile
from pathlib import Path

from trainera.pipeline import convert_script
from trainera.plan import Plan, Refusal

BACKEND = 'import os\n\nos.environ["KERAS_BACKEND"] = "jax"\n'
HEAD = f"{BACKEND}import keras\n"
FIT = "model = keras.Sequential([keras.layers.Dense(1)])\nmodel.compile('sgd', 'mse')\n"
FIT += "model.fit(x, y)\n"
JOIN = "keras.distribution.set_distribution(crew.DataParallel())"
IMPORT = "from trainera import jax_crew as crew"


TENSORFLOW = "import tensorflow as tf\n\nmodel = tf.keras.Sequential([tf.keras.layers.Dense(1)])\n"
TENSORFLOW += "model.compile('sgd', 'mse')\nmodel.fit(x, y)\n"
"""The same, written for tf.keras."""


def planned(source: str, engine: str | None = "jax", **modules: str) -> tuple[Plan, list[str]]:
    """The plan for a script, and the lines that it changes, each with its sign."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {"train": source, **modules}.items():
            (Path(folder) / f"{name}.py").write_text(text)
        plan, converted = convert_script(Path(folder) / "train.py", engine)
        lines = [line for one in converted for line in _changes(one.before, one.after)]
    return plan, lines


def _changes(before: bytes, after: bytes) -> list[str]:
    old, new = before.decode().splitlines(), after.decode().splitlines()
    return [line for line in difflib.ndiff(old, new) if line[0] in "+-"]


def refusal(source: str, engine: str = "jax") -> Refusal:
    """The one reason why a script is refused."""
    plan, _ = planned(source, engine)
    (only,) = plan.refusals
    return only


def changed(source: str, engine: str = "horovod") -> list[str]:
    """The lines that come in for those of a script of tf.keras, without how it joins."""
    _, lines = planned(TENSORFLOW + source, engine)
    new = [line[2:] for line in lines if line.startswith("+")]
    return [line for line in new if "import" not in line and "crew.join" not in line]
