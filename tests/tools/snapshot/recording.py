"""A plugin of pytest that keeps every script which a test has planned or converted.

Hundreds of scripts are strings inside of the tests; this is how they become files. Loaded with
``-p`` before any test module, so that these import the functions as they are changed here.
"""

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tests.tools.snapshot.cases import ROOT, Case, contents, digest, options_from, write_files
from trainera import pipeline
from trainera.plan import Options

FOLDER = "TRAINERA_SNAPSHOT_FOLDER"
TESTS = [
    *("tests/rules", "tests/read", "tests/cli/test_convert_verb.py"),
    *("tests/cli/test_check_verb.py", "tests/engines/test_horovod.py"),
    *("tests/engines/test_grown_batch.py", "tests/test_fuzz.py", "tests/test_refused.py"),
    *("tests/test_readme.py", "tests/test_promises.py"),
]
"""Tests that plan scripts and are quick."""


def record(path: Path, options: Options | None, folder: Path, test: str) -> None:
    """Keeps a script with its modules and options under a name that its contents give."""
    if not path.is_file():
        return
    files, chosen = contents(path), options or Options()
    key = digest(files, chosen)
    home = folder / key
    if home.exists():
        return
    about = {"script": path.name, "options": asdict(chosen), "test": test}
    # Tests run in several processes: whoever is first moves a whole folder into place.
    made = Path(tempfile.mkdtemp(dir=folder))
    write_files(files, made / "files")
    (made / "about.json").write_text(json.dumps(about))
    try:
        made.rename(home)
    except OSError:
        shutil.rmtree(made)


def _recorded(function: Callable[..., Any], folder: Path) -> Callable[..., Any]:
    @functools.wraps(function)
    def recorded(
        path: Path, engine: str = "ddp", options: Options | None = None, *rest: Any, **named: Any
    ) -> Any:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" (")[0]
        record(Path(path), options, folder, test)
        return function(path, engine, options, *rest, **named)

    return recorded


def pytest_configure() -> None:
    folder = Path(os.environ[FOLDER])
    for name in ("plan_script", "convert_script"):
        setattr(pipeline, name, _recorded(getattr(pipeline, name), folder))


def recorded_cases(folder: Path, tests: list[str] | None = None) -> list[Case]:
    """Runs the tests and returns what they have planned; the scripts are kept in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pytest", "-p", "tests.tools.snapshot.recording"]
    command += ["-p", "no:cacheprovider", *(TESTS if tests is None else tests)]
    environment = {**os.environ, FOLDER: str(folder.absolute())}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode not in (0, 1):  # A test may fail; its script is of interest all the same.
        raise RuntimeError(f"pytest: {done.stdout[-2_000:]}{done.stderr[-2_000:]}")
    return sorted(map(as_case, folder.glob("*/about.json")), key=lambda case: case.name)


def as_case(about: Path) -> Case:
    data = json.loads(about.read_text())
    stem = Path(data["test"].partition("::")[0]).stem or "unknown"
    return Case(
        name=f"strings/{stem}/{about.parent.name}",
        folder=about.parent / "files",
        script=data["script"],
        options=options_from(data["options"]),
        origin=data["test"],
    )
