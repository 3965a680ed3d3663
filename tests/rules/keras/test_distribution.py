"""One statement has Keras spread batches over devices, before anything is made."""

from pathlib import Path

import pytest

from tests.rules.keras.tools import BACKEND, FIT, HEAD, IMPORT, JOIN, planned, refusal
from trainera.errors import UserError
from trainera.pipeline import convert_script
from trainera.plan import Options


def test_an_import_and_a_statement() -> None:
    _, lines = planned(HEAD + FIT)
    assert lines == [f"+ {IMPORT}", f"+ {JOIN}"]


def test_it_comes_before_networks_and_behind_the_import_of_keras() -> None:
    source = 'import jax\n\njax.config.update("jax_enable_x64", True)\n' + HEAD + FIT
    plan, _ = planned(source)
    assert [edit.place.line for edit in plan.edits] == [
        source[: source.index("model")].count("\n") + 1
    ]


def test_under_the_main_guard() -> None:
    indented = "".join(f"    {line}\n" for line in FIT.splitlines())
    _, lines = planned(f"{HEAD}\ndef main():\n{indented}\nif __name__ == '__main__':\n    main()\n")
    assert lines == [f"+ {IMPORT}", f"+     {JOIN}"]


def test_a_module_that_makes_a_network_when_it_is_imported() -> None:
    network = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\n"
    source = HEAD + "from network import model\n\nmodel.fit(x, y)\n"
    plan, lines = planned(source, network=network)
    assert f"+ {JOIN}" in lines
    assert [edit.place.line for edit in plan.edits] == [5]


@pytest.mark.parametrize(
    ("imports", "statement"),
    [
        ("import keras", JOIN),
        ("import keras as k", JOIN.replace("keras.", "k.", 1)),
        ("from tensorflow import keras", JOIN),
        ("import tensorflow.keras as K", JOIN.replace("keras.", "K.", 1)),
    ],
)
def test_keras_under_the_name_that_the_script_has_for_it(imports: str, statement: str) -> None:
    _, lines = planned(f"{BACKEND}{imports}\n\nmodel = build()\nmodel.fit(x, y)\n")
    assert lines == [f"+ {IMPORT}", f"+ {statement}"]


@pytest.mark.parametrize("imports", ["from keras import layers", "import tensorflow as tf"])
def test_keras_is_imported_where_it_has_no_name(imports: str) -> None:
    _, lines = planned(f"{BACKEND}{imports}\n\nmodel = build()\nmodel.fit(x, y)\n")
    assert lines == ["+ import keras", f"+ {IMPORT}", f"+ {JOIN}"]


@pytest.mark.parametrize(
    "options", [Options(batch="per-worker"), Options(batchnorm="local")], ids=["batch", "batchnorm"]
)
def test_options_that_would_change_what_is_learned(options: Options, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(HEAD + FIT)
    with pytest.raises(UserError, match="Keras on JAX computes with the whole batch"):
        convert_script(tmp_path / "train.py", "jax", options)


def test_a_name_that_is_taken() -> None:
    found = refusal(HEAD + "crew = 3\n" + FIT)
    assert (found.what, found.do) == ("the script has a 'crew' of its own", "rename it")


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("strategy = tf.distribute.MirroredStrategy()", "tf.distribute"),
        ("keras.distribution.set_distribution(keras.distribution.DataParallel())",
         "keras.distribution"),
        ("from keras.distribution import DataParallel\nDataParallel()", "keras.distribution"),
        ("import horovod.keras as hvd\nhvd.init()", "Horovod"),
    ],
)  # fmt: skip
def test_scripts_that_run_on_several_devices_already(statement: str, what: str) -> None:
    found = refusal(f"{HEAD}import tensorflow as tf\n{statement}\n{FIT}")
    assert found.what == f"the script already runs on several workers, by {what}"
