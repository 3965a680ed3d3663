"""Every operation that `jax_crew` computes in unequal parts gives what one device gives."""

import os
import subprocess

import pytest

from tests.keras.environments import ROOT, python_of, variables


@pytest.mark.timeout(600)
def test_operations_in_unequal_parts() -> None:
    done = subprocess.run(
        [python_of("keras3"), "-m", "tests.keras.uneven_claims"],
        env={**os.environ, **variables()},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert "devices 3 wrong 0 in parts True" in done.stdout
