"""The program as a whole: help, version, statuses, and what happens when things go wrong."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import Trainera

from trainera import __version__
from trainera.errors import UserError

VERBS = ("convert", "check", "run", "doctor", "explain")


def test_help_teaches_with_examples_and_documents_the_statuses(trainera: Trainera) -> None:
    result = trainera("--help")
    assert result.status == 0
    assert all(verb in result.stdout for verb in VERBS)
    assert "trainera convert train.py --diff" in result.stdout
    for status in ("0  done", "1  failed", "2  wrong usage", "3  refused"):
        assert status in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str, trainera: Trainera) -> None:
    result = trainera(verb, "--help")
    assert result.status == 0
    assert f"trainera {verb}" in result.stdout


def test_help_imports_nothing_heavy() -> None:
    """That it is quick, too, is measured by benchmarks/startup.py."""
    code = (
        "import sys\n"
        "from trainera.cli.main import main\n"
        "main(['--help'])\n"
        "print({'torch', 'libcst', 'beniget', 'numpy'} & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stderr.strip() == "set()"


def test_version(trainera: Trainera) -> None:
    result = trainera("--version")
    assert (result.status, result.stdout) == (0, f"trainera {__version__}\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["convrt", "train.py"], "Did you mean 'convert'"),
        (["convert"], "Missing argument"),
        (["convert", "train.py", "--nope"], "No such option"),
        (["check", "train.py", "--batchnorm", "none"], "batchnorm"),
    ],
)
def test_wrong_usage_is_status_2(arguments: list[str], message: str, trainera: Trainera) -> None:
    result = trainera(*arguments)
    assert result.status == 2
    assert message in result.stderr
    assert result.stdout == ""


def test_without_a_verb_the_help_is_shown(trainera: Trainera) -> None:
    result = trainera()
    assert result.status == 2
    assert "trainera convert train.py" in result.stdout + result.stderr


def test_the_installed_program_is_the_module(program: Trainera) -> None:
    command = Path(sys.executable).with_name("trainera")
    if not command.exists():
        pytest.skip("trainera is not installed in this environment")
    done = subprocess.run([command, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, program("--version").stdout)


def test_a_closed_pipe_is_no_error(script: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "trainera", "convert", str(script), "--diff"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert done.returncode == 1
    assert "Error" not in done.stderr
    assert "Exception" not in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_told_in_one_line(script: Path) -> None:
    command = [sys.executable, "-m", "trainera", "check", str(script), "--json"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (1, "trainera: No space left on device\n")


def test_ctrl_c_ends_with_130_and_no_traceback() -> None:
    code = (
        "import sys, time\n"
        "import trainera.cli.probe as probe\n"
        "def machine():\n"
        "    print('ready', flush=True)\n"
        "    time.sleep(60)\n"
        "probe.machine = machine\n"
        "from trainera.cli.main import main\n"
        "sys.exit(main(['doctor']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in stderr


class TestTrouble:
    """Errors from inside a verb; `doctor` stands for all of them."""

    def fail(self, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
        def machine() -> None:
            raise error

        monkeypatch.setattr("trainera.cli.probe.machine", machine)

    def test_a_user_error_is_its_message_and_status(
        self, monkeypatch: pytest.MonkeyPatch, trainera: Trainera
    ) -> None:
        self.fail(monkeypatch, UserError("this — that"))
        result = trainera("doctor")
        assert (result.status, result.stderr) == (2, "trainera: this — that\n")

    def test_the_operating_system_is_quoted(
        self, monkeypatch: pytest.MonkeyPatch, trainera: Trainera
    ) -> None:
        self.fail(monkeypatch, PermissionError(13, "Permission denied", "a.py"))
        result = trainera("doctor")
        assert (result.status, result.stderr) == (1, "trainera: a.py: Permission denied\n")

    def test_a_bug_of_ours_is_owned_up_to(
        self, monkeypatch: pytest.MonkeyPatch, trainera: Trainera
    ) -> None:
        self.fail(monkeypatch, AssertionError("oops"))
        result = trainera("doctor")
        assert result.status == 1
        assert "internal error: AssertionError: oops (test_main.py:" in result.stderr
        assert "Traceback" not in result.stderr

    def test_its_traceback_can_be_had(
        self, monkeypatch: pytest.MonkeyPatch, trainera: Trainera
    ) -> None:
        monkeypatch.setenv("TRAINERA_TRACEBACK", "1")
        self.fail(monkeypatch, AssertionError("oops"))
        assert "Traceback" in trainera("doctor").stderr

    def test_as_data(self, monkeypatch: pytest.MonkeyPatch, trainera: Trainera) -> None:
        self.fail(monkeypatch, UserError("this — that"))
        result = trainera("doctor", "--json")
        assert result.status == 2
        assert '"error": "this \\u2014 that"' in result.stdout
        assert result.stderr == ""
