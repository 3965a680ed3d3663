"""The backend has to be the engine's."""

import pytest

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


@pytest.mark.parametrize("engine", ["horovod", "multiworker"])
def test_keras_3_on_tensorflow_has_no_engine_of_several_processes(engine: str) -> None:
    found = refusal(HEAD.replace("jax", "tensorflow") + FIT, engine)
    assert found.rule == "backend"
    assert found.what == "the script is written for Keras 3"
    assert "by the container that they come in" in found.why
    assert "the engine mirrored" in found.do


def test_keras_3_on_jax_is_not_for_the_devices_of_tensorflow() -> None:
    found = refusal(HEAD + FIT, "mirrored")
    assert found.what == "the script runs Keras on jax"


def test_a_tape_of_tensorflow_on_its_own_devices() -> None:
    tape = "with tf.GradientTape() as tape:\n    pass\n"
    plan, _ = planned(f"import tensorflow as tf\n\n{tape}", "mirrored")
    assert not plan.refusals
