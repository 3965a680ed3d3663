"""``--shares``: what part of every batch each worker gets."""

import json
from pathlib import Path

import pytest
from small_project import Trainera


def test_unequal_shares_print_what_one_worker_prints(script: Path, program: Trainera) -> None:
    alone = program("run", script, "-n", "1", "--", "--epochs", "2")
    together = program("run", script, "--shares", "5:1", "--", "--epochs", "2")
    assert (alone.status, together.status) == (0, 0), together.stderr
    assert together.stdout == alone.stdout


def test_unequal_shares_are_verified(script: Path, program: Trainera) -> None:
    done = program("verify", script, "-n", "2", "--shares", "3:1", "--json")
    verdict = json.loads(done.stdout)
    assert (done.status, verdict["outcome"]) == (0, "EQUIVALENT"), done.stderr
    assert verdict["rows"][0] == 3 * verdict["rows"][1]


def test_shares_that_move_are_verified(script: Path, program: Trainera) -> None:
    command = ("verify", script, "-n", "2", "--shares", "auto", "--json", "--", "--epochs", "8")
    done = program(*command)
    verdict = json.loads(done.stdout)
    assert (done.status, verdict["outcome"]) == (0, "EQUIVALENT"), done.stderr


@pytest.mark.parametrize("verb", ["run", "verify"])
@pytest.mark.parametrize(
    ("shares", "said"),
    [
        ("5:2:1", "--shares 5:2:1: there are 3 shares and 2 workers: give each one"),
        ("0:0", "--shares 0:0: all shares are 0: somebody has to compute"),
        ("5:-1", "--shares 5:-1: a share is a number from 0 on"),
        ("5:nan", "--shares 5:nan: a share is a number from 0 on"),
        ("much:less", "--shares much:less: shares are numbers with colons between them"),
    ],
)
def test_shares_that_are_none(
    verb: str, shares: str, said: str, script: Path, trainera: Trainera
) -> None:
    result = trainera(verb, script, "-n", "2", "--shares", shares)
    assert (result.status, result.stdout) == (2, "")
    assert said in result.stderr


def test_shares_in_the_environment_are_checked_as_well(
    script: Path, trainera: Trainera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRAINERA_SHARES", "5:2:1")
    result = trainera("run", script, "-n", "2")
    assert (result.status, result.stdout) == (2, "")
    assert "there are 3 shares and 2 workers" in result.stderr


def test_engines_that_deal_equally_say_so(tmp_path: Path, trainera: Trainera) -> None:
    keras = tmp_path / "keras_train.py"
    keras.write_text(
        'import os\nos.environ["KERAS_BACKEND"] = "jax"\nimport keras\n'
        "model = keras.Sequential([keras.layers.Dense(1)])\n"
        'model.compile("sgd", "mse")\nmodel.fit([[1.0]], [[1.0]])\n'
    )
    result = trainera("run", keras, "--engine", "jax", "-n", "2", "--shares", "2:1")
    assert (result.status, result.stdout) == (2, "")
    assert "every device gets the same part of a batch" in result.stderr
