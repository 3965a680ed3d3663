"""Joining: who speaks, who fails, and what is the same on every worker."""

import json
import os
from pathlib import Path

from worker_processes import assert_all_well, run_alone, run_torchrun, run_workers

SCRIPT = Path(__file__).parent / "scripts" / "joining.py"
SAID_TO_ERR = ("complained", "warned", "logged")


def read(folder: Path, rank: int) -> dict:
    return json.loads((folder / f"{rank}.json").read_text())


def test_plain_python_is_a_world_of_one(tmp_path: Path) -> None:
    outcome = run_alone(SCRIPT, str(tmp_path))
    assert_all_well([outcome])
    assert outcome.out == "printed\n"
    assert all(word in outcome.err for word in SAID_TO_ERR)
    report = read(tmp_path, 0)
    assert (report["rank"], report["size"], report["listening"]) == (0, 1, [])
    assert report["sum"] == [1, 2.0]
    assert (report["once"], report["in_turn"], report["agree"]) == ("first", 3, 0)


def test_torchrun_workers_share_seeds_cores_and_one_voice(tmp_path: Path) -> None:
    outcome = run_torchrun(SCRIPT, 2, str(tmp_path))
    assert_all_well([outcome])
    assert outcome.out == "printed\n"
    for word in SAID_TO_ERR:
        assert outcome.err.count(word) == 1 or word == "warned", outcome.err
    first, second = read(tmp_path, 0), read(tmp_path, 1)
    assert (first["rank"], second["rank"], second["size"]) == (0, 1, 2)
    assert first["drawn"] == second["drawn"]
    assert first["weight"] == second["weight"]
    assert first["sum"] == second["sum"] == [2, 4.0]
    assert second["once"] == "nobody"
    share = max(1, len(os.sched_getaffinity(0)) // 2)
    assert first["threads"] == second["threads"] == share


def test_a_muted_worker_cries_out_when_it_fails(tmp_path: Path) -> None:
    first, second = run_workers(SCRIPT, 2, str(tmp_path), "--fail", OMP_NUM_THREADS="2")
    assert first.status != 0 and second.status == 1
    assert second.out == ""
    assert second.err.startswith("[worker 1] Traceback"), second.err
    assert "KeyError: 'the last worker fails'" in second.err
    assert not any(word in second.err for word in SAID_TO_ERR)
    assert read(tmp_path, 1)["threads"] == 2  # as the user wished
