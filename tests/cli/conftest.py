"""trainera as its users meet it: arguments in; status, stdout and stderr out."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from small_project import ENTRY, MODULE, REFUSED, SCRIPT, UNCHANGED, Result, Trainera

from trainera.cli.main import main


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory of its own for each test; what was written is not remembered at home."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    directory = tmp_path / "work"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def trainera(capfdbinary: pytest.CaptureFixture[bytes]) -> Trainera:
    """Runs the command line in this process."""

    def invoke(*arguments: str | Path) -> Result:
        status = main([str(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return Result(status=status, stdout=captured.out.decode(), stderr=captured.err.decode())

    return invoke


@pytest.fixture
def program() -> Trainera:
    """Runs the command line as a program of its own."""

    def invoke(*arguments: str | Path, **options: object) -> Result:
        command = [sys.executable, "-m", "trainera", *map(str, arguments)]
        environment = {**os.environ, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(command, capture_output=True, env=environment, timeout=200, **options)
        return Result(
            status=done.returncode, stdout=done.stdout.decode(), stderr=done.stderr.decode()
        )

    return invoke


@pytest.fixture
def script(elsewhere: Path) -> Path:
    """A training script in the current directory."""
    Path("train.py").write_text(SCRIPT)
    return Path("train.py")


@pytest.fixture
def refused(elsewhere: Path) -> Path:
    """A script that cannot be converted."""
    Path("refused.py").write_text(REFUSED)
    return Path("refused.py")


@pytest.fixture
def project(elsewhere: Path) -> Path:
    """A script with a module that has to change and one that has not."""
    directory = Path("project")
    directory.mkdir()
    (directory / "train.py").write_text(ENTRY)
    (directory / "loaders.py").write_text(MODULE)
    (directory / "models.py").write_text(UNCHANGED)
    return directory
