"""tf.keras: where workers join, and what only one of them does."""

import pytest

from tests.rules.keras.tools import HEAD, TENSORFLOW, changed, planned, refusal


def test_horovod_joins_before_anything_is_made() -> None:
    _, lines = planned(TENSORFLOW, "horovod")
    assert lines == [
        "+ import horovod.tensorflow as hvd",
        "+ from trainera import tf_crew as crew",
        "+ crew.join_horovod(hvd)",
    ]


def test_a_strategy_joins_under_the_name_that_the_script_has_for_tensorflow() -> None:
    _, lines = planned(TENSORFLOW, "multiworker")
    assert "+ crew.join_strategy(tf.distribute.MultiWorkerMirroredStrategy)" in lines


def test_a_strategy_imports_tensorflow_where_the_script_does_not() -> None:
    source = "from tensorflow import keras\n\nkeras.Sequential().fit(x, y)\n"
    _, lines = planned(source, "multiworker")
    assert "+ import tensorflow" in lines
    assert "+ crew.join_strategy(tensorflow.distribute.MultiWorkerMirroredStrategy)" in lines


def test_keras_on_jax_is_not_for_tensorflow() -> None:
    assert refusal(HEAD + "keras.Sequential().fit(x, y)\n", "horovod").rule == "backend"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("open('log.txt', 'w').write('x')", "crew.once(open, 'log.txt', 'w').write('x')"),
        ("import os\nos.makedirs('out')", "crew.once(os.makedirs, 'out')"),
        ("import numpy as np\nnp.save('a.npy', a)", "crew.once(np.save, 'a.npy', a)"),
        ("frame.to_csv('a.csv')", "crew.once(frame.to_csv, 'a.csv')"),
        ("path.open('a')", "crew.once(path.open, 'a')"),
        ("model.save('model.h5')", "crew.once(model.save, 'model.h5')"),
        ("tf.io.TFRecordWriter('a.tf')", "crew.once(tf.io.TFRecordWriter, 'a.tf')"),
        (
            "tf.keras.models.save_model(model, 'm.h5')",
            "crew.once(tf.keras.models.save_model, model, 'm.h5')",
        ),
        ("tf.io.gfile.makedirs('out')", "crew.once(tf.io.gfile.makedirs, 'out')"),
        (
            "data = tf.keras.datasets.mnist.load_data()",
            "data = crew.in_turn(tf.keras.datasets.mnist.load_data)",
        ),
        ("import tempfile\nd = tempfile.mkdtemp()", "d = crew.agree(tempfile.mkdtemp())"),
        (
            "import time\nwhile time.time() < end:\n    pass",
            "while crew.agree(time.time()) < end:",
        ),
        (
            "from datetime import datetime\nmodel.save_weights(str(datetime.now()))",
            "model.save_weights(str(crew.agree(datetime.now())))",
        ),
    ],
)
def test_what_reaches_outside(line: str, expected: str) -> None:
    assert changed(line + "\n") == [expected]


@pytest.mark.parametrize(
    "line",
    [
        "open('data.txt').read()",
        "open('data.txt', 'rb').read()",
        "model.save_weights('model.h5')",
        "import time\nstart = time.time()\nprint(time.time() - start)",
        "def save(path):\n    pass\n\nsave('x')\nagent.save('x')",
        "import os\nprint(os.path.exists('x'))",
    ],
)
def test_what_all_workers_may_do(line: str) -> None:
    assert changed(line + "\n") == []


def test_one_process_writes_as_it_did() -> None:
    _, lines = planned(HEAD + "model.fit(x, y)\nopen('log.txt', 'w')\n", "jax")
    assert not any("once" in line for line in lines)


def test_a_mode_that_cannot_be_read() -> None:
    found = refusal(TENSORFLOW + "open(path, mode)\n", "horovod")
    assert (found.rule, found.do) == ("once", "give the mode as a constant")


def test_devices_of_one_process_join_and_write_as_ever() -> None:
    line = "open('log.txt', 'w')\ntime.sleep(1)\ntf.keras.datasets.mnist.load_data()\n"
    _, lines = planned(TENSORFLOW + "import time\n" + line, "mirrored")
    assert lines == ["+ from trainera import mirror_crew as crew", "+ crew.join_devices()"]


def test_keras_3_on_tensorflow_is_for_its_devices() -> None:
    plan, _ = planned(HEAD.replace("jax", "tensorflow") + "keras.Sequential().fit(x, y)\n", None)
    assert plan.engine == "mirrored"
