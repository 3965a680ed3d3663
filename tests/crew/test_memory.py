"""What workers of one machine send each other goes through shared memory, or through gloo."""

import json
from pathlib import Path

import pytest
from worker_processes import assert_all_well, fork_workers

from tests.tools.runs import Runner

SCRIPT = Path(__file__).parent / "scripts" / "collectives.py"


def reports(folder: Path, workers: int) -> list[dict]:
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(workers)]


@pytest.mark.parametrize("workers", [2, 3])
def test_every_collective_gives_what_it_must(workers: int, runner: Runner, tmp_path: Path) -> None:
    before = sorted(path.name for path in Path("/dev/shm").iterdir())
    assert_all_well(fork_workers(runner, SCRIPT, workers, tmp_path, str(tmp_path), "all"))
    for report in reports(tmp_path, workers):
        assert (report["backend"], report["by"]) == ("machine", "SharedCollectives")
        assert set(report["shared"]) <= set(before)  # it has no name that could be left behind


def test_gloo_can_be_asked_for(runner: Runner, tmp_path: Path) -> None:
    assert_all_well(
        fork_workers(runner, SCRIPT, 2, tmp_path, str(tmp_path), "all", TRAINERA_BACKEND="gloo")
    )
    assert [report["backend"] for report in reports(tmp_path, 2)] == ["gloo", "gloo"]


def test_all_use_gloo_if_one_cannot_see_the_memory(runner: Runner, tmp_path: Path) -> None:
    assert_all_well(fork_workers(runner, SCRIPT, 3, tmp_path, str(tmp_path), "blind"))
    assert [report["by"] for report in reports(tmp_path, 3)] == ["TorchCollectives"] * 3


def test_workers_out_of_step_are_told_so(runner: Runner, tmp_path: Path) -> None:
    first, second = fork_workers(runner, SCRIPT, 2, tmp_path, str(tmp_path), "apart")
    assert first.status == second.status == 1
    expected = "worker 1 sums 16 bytes where worker 0 sums 12 bytes: the workers got out of step"
    assert expected in first.err


def test_nobody_waits_for_a_worker_that_is_gone(runner: Runner, tmp_path: Path) -> None:
    first, second = fork_workers(runner, SCRIPT, 2, tmp_path, str(tmp_path), "gone")
    assert (first.status, second.status) == (1, 7)
    assert "worker 0 waited for worker 1, which is gone" in first.err
