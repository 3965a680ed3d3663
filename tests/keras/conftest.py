"""A process that has Keras imported, and forks what runs scripts."""

from collections.abc import Iterator

import pytest

from tests.keras.environments import python_of, variables
from tests.tools.runs import Runner

IMPORTS = (
    *("numpy", "keras", "tensorflow", "sklearn.datasets", "sklearn.metrics", "h5py"),
    "tests.keras.wide",
)
"""What scripts import; none of it starts a device, whose number is each run's own."""


@pytest.fixture(scope="session")
def keras3() -> Iterator[Runner]:
    """Runs scripts on Keras 3 with JAX."""
    started = Runner(python_of("keras3"), IMPORTS, variables())
    yield started
    started.close()
