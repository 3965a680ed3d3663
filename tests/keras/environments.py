"""The environments in which Keras scripts are run: each line of Keras wants one of its own."""

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"


def python_of(name: str) -> str:
    """The interpreter of an environment; `make test` makes it."""
    path = Path(os.environ.get(f"TRAINERA_{name.upper()}") or ROOT / ".venv" / name / "bin/python")
    assert path.exists(), f"{path}: no such environment — `make .venv/{name}/ready` makes it"
    return str(path)


def quiet() -> dict[str, str]:
    """So that libraries are quiet, and trainera is the one of this folder."""
    path = os.pathsep.join(map(str, (SOURCE, ROOT)))
    return {"PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONHASHSEED": "0"}


def variables() -> dict[str, str]:
    """Those of Keras 3.

    Scripts that compute in 64 bits tell JAX so before they import it, which is too late here.
    """
    return {**quiet(), "KERAS_BACKEND": "jax", "JAX_ENABLE_X64": "1"}
