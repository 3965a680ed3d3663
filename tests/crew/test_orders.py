"""Every sampler gives the order of the sequential run, and leaves the random streams like it."""

from pathlib import Path

import pytest
import torch
from worker_processes import assert_all_well, fork_workers

from tests.tools.runs import Runner

SCRIPT = Path(__file__).parent / "scripts" / "orders.py"


@pytest.fixture(scope="module")
def alone(runner: Runner, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The orders of the sequential script and of a world of one."""
    folder = tmp_path_factory.mktemp("alone")
    assert_all_well(fork_workers(runner, SCRIPT, 0, folder, str(folder)))
    return folder


@pytest.mark.parametrize("workers", [1, 3])
def test_orders_are_those_of_the_sequential_run(
    workers: int, alone: Path, runner: Runner, tmp_path: Path
) -> None:
    if workers > 1:
        assert_all_well(fork_workers(runner, SCRIPT, workers, tmp_path, str(tmp_path)))
    folder = tmp_path if workers > 1 else alone
    expected = torch.load(alone / "sequential.pt")
    found = [torch.load(folder / f"{rank}.pt") for rank in range(workers)]
    for name, steps in expected.items():
        together = []
        for parts in zip(*(each[name] for each in found), strict=True):
            assert len({part[1:] for part in parts}) == 1, name
            together.append(([row for part in parts for row in part[0]], *parts[0][1:]))
        assert together == steps, name
