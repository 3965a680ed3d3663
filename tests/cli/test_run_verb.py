"""``trainera run``: one output on stdout, everything else on stderr."""

import os
from pathlib import Path

import pytest
from small_project import Trainera, names

from trainera import engines


def test_two_workers_print_what_one_prints(script: Path, program: Trainera) -> None:
    alone = program("run", script, "-n", "1", "--", "--epochs", "2")
    together = program("run", script, "-n", "2", "--", "--epochs", "2")
    assert (alone.status, together.status) == (0, 0), together.stderr
    assert together.stdout == alone.stdout
    assert len(together.stdout.splitlines()) == 2
    assert names() == ["train.py"]


def test_a_training_that_fails_is_status_1(script: Path, program: Trainera) -> None:
    script.write_text(script.read_text() + "raise RuntimeError('no more')\n")
    result = program("run", script, "-n", "2")
    assert result.status == 1
    assert result.stdout.startswith("epoch 0 loss")
    assert result.stderr.count("RuntimeError: no more") == 1


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", ""])
def test_a_number_of_workers_that_is_none(number: str, script: Path, trainera: Trainera) -> None:
    result = trainera("run", script, "-n", number)
    assert (result.status, result.stdout) == (2, "")
    assert f"-n {number}: not a number of workers — give 1 or more, or auto" in result.stderr


def test_options_of_the_script_go_after_the_dashes(script: Path, trainera: Trainera) -> None:
    result = trainera("run", script, "-n", "2", "--epochs", "3")
    assert result.status == 2
    assert "Options of the script go after --" in result.stderr
    assert "trainera run train.py -n 2 -- --epochs" in result.stderr


def test_a_refused_script_is_not_run(refused: Path, trainera: Trainera) -> None:
    result = trainera("run", refused, "-n", "2")
    assert (result.status, result.stdout) == (3, "")
    assert result.stderr.startswith("refused.py:")
    assert "nothing was run" in result.stderr


def test_an_engine_that_is_not_installed_says_how_to_get_it(
    script: Path, trainera: Trainera, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name, package=None: None)
    missing = engines.get("ddp").missing()
    assert missing is not None
    result = trainera("run", script, "-n", "2")
    assert (result.status, result.stdout) == (1, "")
    assert missing in result.stderr


def test_a_missing_script(trainera: Trainera) -> None:
    result = trainera("run", "none.py", "-n", "2")
    assert result.status == 2
    assert "none.py: no such file" in result.stderr


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="cores cannot be taken away here")
def test_more_workers_than_cores_are_told(script: Path, program: Trainera) -> None:
    # It is told before the workers start; what they do after that is no matter here.
    script.write_text("import sys\nif len(sys.argv) == 1:\n    sys.exit()\n" + script.read_text())
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        crowded = program("run", script, "-n", "2")
        alone = program("run", script, "-n", "1")
    finally:
        os.sched_setaffinity(0, cores)
    assert (crowded.status, alone.status) == (0, 0)
    assert "trainera: 2 workers share 1 core: expect no gain in speed" in crowded.stderr
    assert "share" not in alone.stderr
