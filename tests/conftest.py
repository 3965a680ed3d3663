"""Fixtures for all tests."""

from collections.abc import Iterator

import pytest

from tests.tools.runs import Runner


@pytest.fixture(scope="session")
def runner() -> Iterator[Runner]:
    """Runs scripts as one or several workers."""
    started = Runner()
    yield started
    started.close()
