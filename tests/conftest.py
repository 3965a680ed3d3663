"""Fixtures for all tests."""

import contextlib
import signal
from collections.abc import Iterator

import pytest

from tests.tools.runs import Runner

# Started in the background, a process ignores Ctrl-C, and hanging up under nohup; so would all
# that the tests start.
with contextlib.suppress(ValueError):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one file run in one process, unless they say otherwise: they share what is slow."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.name))


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """Runs scripts as one or several workers."""
    started = Runner()
    yield started
    started.close()
