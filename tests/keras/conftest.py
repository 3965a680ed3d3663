"""A process that has Keras imported, and forks what runs scripts."""

from collections.abc import Iterator

import pytest

from tests.keras.environments import python_of, quiet, variables
from tests.tools.runs import Runner

IMPORTS = (
    *("numpy", "keras", "tensorflow", "sklearn.datasets", "sklearn.metrics", "h5py"),
    "tests.keras.wide",
)
"""What scripts import; none of it starts a device, whose number is each run's own."""


KERAS2_IMPORTS = (
    *("numpy", "tensorflow", "keras", "horovod.tensorflow", "trainera.tf_crew"),
    *("sklearn.datasets", "sklearn.metrics", "sklearn.model_selection", "h5py"),
)


@pytest.fixture(scope="session")
def keras3() -> Iterator[Runner]:
    """Runs scripts on Keras 3 with JAX."""
    started = Runner(python_of("keras3"), IMPORTS, variables(), "keras")
    yield started
    started.close()


@pytest.fixture(scope="session")
def keras3_on_tensorflow() -> Iterator[Runner]:
    """Runs scripts on Keras 3 with TensorFlow."""
    environment = {**variables(), "KERAS_BACKEND": "tensorflow"}
    started = Runner(python_of("keras3"), (*IMPORTS, "trainera.mirror_crew"), environment, "keras")
    yield started
    started.close()


@pytest.fixture(scope="session")
def keras2() -> Iterator[Runner]:
    """Runs scripts on tf.keras 2, with Horovod."""
    started = Runner(python_of("keras2"), KERAS2_IMPORTS, quiet(), "keras")
    yield started
    started.close()
