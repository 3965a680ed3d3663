"""The parallel run learns the same network as the sequential one."""

import math
from pathlib import Path

import pytest
import torch
from worker_processes import assert_all_well, fork_workers

from tests.tools.runs import Runner

SCRIPT = Path(__file__).parent / "scripts" / "training.py"


@pytest.fixture(scope="module")
def alone(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The results of the sequential script and of a world of one."""
    folder = tmp_path_factory.mktemp("alone")
    assert_all_well(fork_workers(runner, SCRIPT, 0, folder, str(folder)))
    return folder


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_losses_and_weights_are_those_of_the_sequential_run(
    workers: int, alone: Path, runner: Runner, tmp_path: Path
) -> None:
    if workers > 1:
        assert_all_well(fork_workers(runner, SCRIPT, workers, tmp_path, str(tmp_path)))
    folder = tmp_path if workers > 1 else alone
    expected = torch.load(alone / "sequential.pt")
    for rank in range(workers):
        found = torch.load(folder / f"{rank}.pt")
        for kind in ("mlp", "cnn"):
            losses, weights, moments = found[kind]
            expected_losses, expected_weights, expected_moments = expected[kind]
            assert len(losses) == len(expected_losses)
            for ours, theirs in zip(losses, expected_losses, strict=True):
                assert type(ours) is type(theirs)
                assert math.isclose(ours, theirs, abs_tol=1e-9)
            assert list(weights) == list(expected_weights)
            torch.testing.assert_close(weights, expected_weights, rtol=0, atol=1e-9)
            torch.testing.assert_close(
                moments["state"], expected_moments["state"], rtol=0, atol=1e-9
            )
