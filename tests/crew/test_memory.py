"""What workers of one machine send each other goes through shared memory, or through gloo."""

import json
from pathlib import Path

import pytest
from worker_processes import assert_all_well, run_workers

SCRIPT = Path(__file__).parent / "scripts" / "collectives.py"


def reports(folder: Path, workers: int) -> list[dict]:
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(workers)]


@pytest.mark.parametrize("workers", [2, 3])
def test_every_collective_gives_what_it_must(workers: int, tmp_path: Path) -> None:
    before = sorted(path.name for path in Path("/dev/shm").iterdir())
    assert_all_well(run_workers(SCRIPT, workers, str(tmp_path), "all"))
    for report in reports(tmp_path, workers):
        assert (report["backend"], report["by"]) == ("machine", "SharedCollectives")
        assert set(report["shared"]) <= set(before)  # it has no name that could be left behind


def test_gloo_can_be_asked_for(tmp_path: Path) -> None:
    assert_all_well(run_workers(SCRIPT, 2, str(tmp_path), "all", TRAINERA_BACKEND="gloo"))
    assert [report["backend"] for report in reports(tmp_path, 2)] == ["gloo", "gloo"]


def test_all_use_gloo_if_one_cannot_see_the_memory(tmp_path: Path) -> None:
    assert_all_well(run_workers(SCRIPT, 3, str(tmp_path), "blind"))
    assert [report["by"] for report in reports(tmp_path, 3)] == ["TorchCollectives"] * 3


def test_workers_out_of_step_are_told_so(tmp_path: Path) -> None:
    first, second = run_workers(SCRIPT, 2, str(tmp_path), "apart")
    assert first.status == second.status == 1
    expected = "worker 1 sums 16 bytes where worker 0 sums 12 bytes: the workers got out of step"
    assert expected in first.err


def test_nobody_waits_for_a_worker_that_is_gone(tmp_path: Path) -> None:
    first, second = run_workers(SCRIPT, 2, str(tmp_path), "gone")
    assert (first.status, second.status) == (1, 7)
    assert "worker 0 waited for worker 1, which is gone" in first.err
