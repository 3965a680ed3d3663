"""An Estimator beside a Keras training is refused: it trains by itself, on every worker."""

from pathlib import Path

import pytest

from trainera.pipeline import convert_script

SCRIPT = """
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(tf.zeros([4, 2]), tf.zeros([4, 1]))
{more}
"""


@pytest.mark.parametrize(
    ("more", "refused"),
    [
        ("estimator = tf.estimator.Estimator(model_fn, 'folder')", ["own-loop"]),
        ("estimator = tf.keras.estimator.model_to_estimator(model)", ["own-loop"]),
        ("print(tf.estimator)", []),
    ],
)
def test_estimator(more: str, refused: list[str], tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT.format(more=more))
    plan, _ = convert_script(script, "horovod")
    assert [refusal.rule for refusal in plan.refusals] == refused
