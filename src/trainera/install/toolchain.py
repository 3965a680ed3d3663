"""What it takes to compile an extension: found on this machine, or asked for in plain words."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trainera.errors import Status, UserError

COMPILERS = ("g++", "c++", "clang++")
WAYS = "Debian, Ubuntu: apt install build-essential; Fedora: dnf install gcc-c++ make"


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """The programs that compile."""

    compiler: str
    cmake: str | None
    """None: it comes from the package index for the time of the build."""


def find() -> Toolchain:
    """The tools of this machine; an error that says what to install if one is missing."""
    wish = os.environ.get("CXX")
    candidates = (wish.split()[0],) if wish else COMPILERS
    compiler = next((found for name in candidates if (found := shutil.which(name))), None)
    if compiler is None:
        named = f"CXX={wish}" if wish else "g++"
        raise UserError(
            f"no C++ compiler is here ({named}), and Horovod has to be compiled — {WAYS}",
            Status.FAILED,
        )
    if shutil.which("make") is None:
        raise UserError(f"no make is here, and Horovod has to be compiled — {WAYS}", Status.FAILED)
    return Toolchain(compiler=compiler, cmake=shutil.which("cmake"))


def require_pip() -> None:
    """Environments can be without pip, which does the building and the installing."""
    if _answer([sys.executable, "-m", "pip", "--version"]) is None:
        raise UserError(
            f"this environment has no pip — {sys.executable} -m ensurepip", Status.FAILED
        )


def version_of(framework: str) -> str | None:
    """The version that a framework says it has, asked in a process of its own."""
    return _answer([sys.executable, "-c", f"import {framework} as f; print(f.__version__)"])


def wrapper(compiler: str, standard: str, folder: Path) -> Path:
    """A program that calls the compiler with another language standard, as the last word.

    The last `-std` wins, so this overrides what a project's own build files ask for. So does the
    last `-g`: without debug information the build takes half the time, and a sixteenth the room.
    """
    path = folder / "c++"
    path.write_text(f'#!/bin/sh\nexec "{compiler}" "$@" -std={standard} -g0\n', encoding="utf-8")
    path.chmod(0o755)
    return path


def _answer(command: Sequence[str]) -> str | None:
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = done.stdout.split("\n")
    return None if done.returncode else next((line for line in lines[::-1] if line), "")
