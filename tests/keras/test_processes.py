"""Keras on JAX over two processes: scripts of the corpus, and what a user of it meets."""

import json
from pathlib import Path

import pytest

from tests.keras.test_verbs_keras import SCRIPT, call
from tests.tools.corpus import settings, told, tolerance_of, write_converted
from tests.tools.runs import Runner, saved_difference, text_difference
from trainera.pipeline import convert_script

CORPUS = Path(__file__).with_name("corpus") / "keras3"
CHOSEN = (
    *("batch_size_in_the_model", "callbacks_best", "digits_sequential"),
    *("eager_and_packed", "gan_train_on_batch"),
)
ENGINE = "jax_processes"
WORLD = {"JAX_COORDINATOR_ADDRESS": "127.0.0.1:1", "JAX_NUM_PROCESSES": "2", "JAX_PROCESS_ID": "0"}


@pytest.mark.parametrize("name", CHOSEN)
def test_same_output(name: str, keras3: Runner, tmp_path: Path) -> None:
    case = CORPUS / name
    script = write_converted(case, tmp_path / "source", engine=ENGINE)
    plain, folder = tmp_path / "plain", tmp_path / "run"
    plain.mkdir()
    folder.mkdir()
    arguments = settings(case).get("arguments", [])
    alone = keras3.run(case / "train.py", plain, arguments, timeout=300)
    assert alone.ok, alone.report()
    expected = alone.output
    run = keras3.run(script, folder, arguments, 2, timeout=300, engine=ENGINE)
    assert run.ok, run.report()
    tolerance, ignore = tolerance_of(case), settings(case).get("ignore")
    difference = text_difference(told(expected, ignore), told(run.output, ignore), tolerance)
    assert difference is None, f"{difference}\n--- expected\n{expected}\n--- found\n{run.output}"
    for saved in settings(case).get("saved", []):
        difference = saved_difference(plain / saved, folder / saved, tolerance)
        assert difference is None, difference


def test_verify_finds_them_equivalent(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT)
    words = ("verify", "train.py", "-n", "2", "--engine", ENGINE, "--json")
    done = call(tmp_path, "-m", "trainera", *words)
    verdict = json.loads(done.stdout)
    assert (done.returncode, verdict["outcome"]) == (0, "EQUIVALENT"), done.stdout + done.stderr
    compared = {one["quantity"] for one in verdict["largest"]}
    assert compared >= {"samples", "loss", "gradient", "weights", "metrics", "saved", "printed"}
    assert verdict["notes"] == []


FILES = """\
import os
import keras
import numpy as np

order = np.random.default_rng().permutation(8)
with open("log.txt", "a") as log:
    print("began", file=log)
x = np.arange(16.0).reshape(8, 2)[order if os.environ.get("BY_CHANCE") else slice(None)]
model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(x, x.sum(1), batch_size=3, verbose=0, callbacks=[keras.callbacks.CSVLogger("fit.csv")])
print("shape", model.predict(x, verbose=0).shape)
"""


@pytest.fixture
def converted(tmp_path: Path) -> Path:
    plain, script = tmp_path / "plain.py", tmp_path / "train.py"
    plain.write_text(FILES)
    script.write_bytes(convert_script(plain, ENGINE)[1][0].after)
    return script


def test_one_process_writes_and_speaks(converted: Path, keras3: Runner, tmp_path: Path) -> None:
    run = keras3.run(converted, tmp_path, [], 2, engine=ENGINE)
    assert run.ok, run.report()
    assert run.outputs == ["shape (8, 1)\n", ""]
    assert (tmp_path / "log.txt").read_text() == "began\n"
    assert len((tmp_path / "fit.csv").read_text().splitlines()) == 2


def test_processes_that_are_given_other_batches_end(
    converted: Path, keras3: Runner, tmp_path: Path
) -> None:
    run = keras3.run(converted, tmp_path, [], 2, engine=ENGINE, env={"BY_CHANCE": "1"})
    assert 0 not in run.statuses
    assert "the processes were given different batches" in run.report()


def test_alone_it_is_the_script_as_it_was(converted: Path, keras3: Runner, tmp_path: Path) -> None:
    run = keras3.run(converted, tmp_path)
    assert run.ok, run.report()
    assert run.output == "shape (8, 1)\n"


def test_devices_of_one_process_are_not_begun_twice(keras3: Runner, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    script.write_bytes(convert_script(script, "jax")[1][0].after)
    run = keras3.run(script, tmp_path, env=WORLD)
    assert run.statuses == [1]
    assert (
        "2 processes were begun, and the script was converted for the devices of one"
        in (run.errors[0])
    )
    assert not (tmp_path / "end.weights.h5").exists()


def test_a_loop_that_keras_does_not_see_is_refused() -> None:
    plan, _ = convert_script(CORPUS / "jax_loop" / "train.py", ENGINE)
    assert [refusal.rule for refusal in plan.refusals] == ["own-loop"]
    assert "only batches that Keras's trainer is given" in plan.refusals[0].why
