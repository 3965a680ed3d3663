"""What the runtime for tf.keras 2 claims of Keras's losses holds of the losses themselves."""

import json
import os
import subprocess
from pathlib import Path

from tests.keras.environments import python_of, quiet

SCRIPT = Path(__file__).with_name("loss_claims.py")


def test_every_loss_is_as_claimed() -> None:
    done = subprocess.run(
        [python_of("keras2"), str(SCRIPT)],
        env={**os.environ, **quiet()},
        capture_output=True,
        text=True,
        timeout=230,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["problems"] == []
    assert found["tried"] > 35
