"""Batch normalisation, sums and turns, in real workers."""

from pathlib import Path

from worker_processes import assert_all_well, fork_workers

from tests.tools.runs import Runner

SCRIPTS = Path(__file__).parent / "scripts"


def test_tools(runner: Runner, tmp_path: Path) -> None:
    outcomes = fork_workers(runner, SCRIPTS / "tools.py", 3, tmp_path, str(tmp_path))
    assert_all_well(outcomes)
    assert [outcome.out for outcome in outcomes] == ["all checked\n", "", ""]
    assert (tmp_path / "log.txt").read_text() == "line\n"
