"""The fixture `launch`; see launching.py."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from launching import Launch

if sys.platform != "linux":
    collect_ignore_glob = ["test_*"]  # they look for processes in /proc


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Starts runs, and ends what is left of them."""
    start = Launch(folder=tmp_path)
    yield start
    for one in start.running:
        one.kill()
    shutil.rmtree((tmp_path / "tmp").resolve(), ignore_errors=True)
