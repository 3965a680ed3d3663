"""Batch normalisation, sums and turns, in real workers."""

from pathlib import Path

from worker_processes import assert_all_well, run_workers

SCRIPTS = Path(__file__).parent / "scripts"


def test_tools(tmp_path: Path) -> None:
    outcomes = run_workers(SCRIPTS / "tools.py", 3, str(tmp_path), timeout=60)
    assert_all_well(outcomes)
    assert [outcome.out for outcome in outcomes] == ["all checked\n", "", ""]
    assert (tmp_path / "log.txt").read_text() == "line\n"
