"""What the runtime for TensorFlow's devices claims of layers holds of the layers themselves."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.keras.environments import python_of, variables

SCRIPT = Path(__file__).with_name("mirrored_claims.py")


@pytest.mark.parametrize("line", ["keras2", "keras3"])
def test_every_layer_is_as_claimed(line: str) -> None:
    done = subprocess.run(
        [python_of(line), str(SCRIPT)],
        env={**os.environ, **variables(), "KERAS_BACKEND": "tensorflow"},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["problems"] == []
    assert found["tried"] > 65
