"""Loops of all kinds over split loaders, in real workers."""

from pathlib import Path

from worker_processes import assert_all_well, run_workers

SCRIPTS = Path(__file__).parent / "scripts"


def test_loops() -> None:
    outcomes = run_workers(SCRIPTS / "loops.py", 3, timeout=40)
    assert_all_well(outcomes)
    assert [outcome.out for outcome in outcomes] == ["all checked\n", "", ""]
