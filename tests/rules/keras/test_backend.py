"""The backend has to be the engine's."""

from tests.rules.keras.tools import FIT, HEAD, planned, refusal


def test_another_backend() -> None:
    found = refusal(HEAD.replace("jax", "tensorflow") + FIT)
    assert found.what == "the script runs Keras on tensorflow"
    assert found.place.line == 3


def test_the_right_one_needs_no_word() -> None:
    plan, _ = planned(HEAD + FIT)
    assert plan.notes == ()


def test_a_default_that_the_environment_may_change() -> None:
    found = refusal(
        'import os\nos.environ.setdefault("KERAS_BACKEND", "torch")\nimport keras\n' + FIT
    )
    assert found.what == "the script runs Keras on torch"
    assert "leave all else to each worker's share" in found.why
    assert 'os.environ["KERAS_BACKEND"] = "jax"' in found.do


def test_keras_as_a_part_of_tensorflow() -> None:
    found = refusal("from tensorflow import keras\n" + FIT)
    assert found.what == "the script runs Keras on tensorflow"
    assert 'os.environ["KERAS_BACKEND"] = "jax"' in found.do


def test_none_is_chosen() -> None:
    plan, _ = planned("import keras\n" + FIT)
    (note,) = plan.notes
    assert note.what == "start it with KERAS_BACKEND=jax"


def test_a_tape_of_tensorflow() -> None:
    tape = "with tf.GradientTape() as tape:\n    pass\n"
    found = refusal(f"import keras\nimport tensorflow as tf\n\n{tape}{FIT}")
    assert found.what == "the script computes gradients by a tape of TensorFlow"
