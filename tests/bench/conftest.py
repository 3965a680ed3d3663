"""The command line as a program of its own, in a folder of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Program = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def trainera(folder: Path) -> Program:
    def invoke(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
        # One thread each: tests share the machine.
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"}
        return subprocess.run(
            [sys.executable, "-m", "trainera", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=200,
        )

    return invoke
