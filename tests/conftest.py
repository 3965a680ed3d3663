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


LONGEST = [
    *("test_corpus_verified.py", "test_corpus.py", "test_convert_properties.py"),
    *("test_verify_verb.py", "test_generated.py", "test_running.py"),
]
"""They begin first, so that no process is left with one of them when the others are done."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of one file run in one process, unless they say otherwise: they share what is slow."""
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.name, len(order)))
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.name))


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """Runs scripts as one or several workers."""
    started = Runner()
    yield started
    started.close()
