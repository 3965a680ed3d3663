"""Whatever a script does to the user's files, they are afterwards what they were."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from trainera.launch.journal import put_back

ROOT = Path(__file__).parents[2] / "src"
BEGIN = f"""
import os, shutil, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from trainera.launch.journal import Journal
Journal(Path(sys.argv[1])).install()
"""


def state(folder: Path) -> dict[str, object]:
    """Names, and what is behind them."""
    return {
        str(path.relative_to(folder)): (
            str(path.readlink()) if path.is_symlink()
            else "a folder" if path.is_dir()
            else (path.read_text(), path.stat().st_mode)
        )
        for path in sorted(folder.rglob("*"))
    }  # fmt: skip


def run(folder: Path, journal: Path, deeds: str) -> None:
    command = [sys.executable, "-B", "-c", BEGIN + deeds, str(journal)]
    subprocess.run(command, cwd=folder, check=True, timeout=60)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "here"
    (made / "saved" / "deep").mkdir(parents=True)
    (made / "empty").mkdir()
    (made / "saved" / "old.pt").write_text("old")
    (made / "saved" / "deep" / "older.pt").write_text("older")
    (made / "log.txt").write_text("log")
    (made / "latest").symlink_to("log.txt")
    (made / "datasets.py").write_text("open('log.txt', 'w').write('mine')")
    return made


@pytest.mark.parametrize(
    "deeds",
    [
        "open('log.txt', 'w').write('new'); open('new.txt', 'w').write('new')",
        "os.remove('log.txt'); open('log.txt', 'w').write('new')",
        "shutil.rmtree('saved'); os.makedirs('saved'); open('saved/new.pt', 'w').write('new')",
        "shutil.rmtree('saved')",
        "os.rmdir('empty')",
        "os.rename('saved', 'gone')",
        "os.makedirs('final.tmp'); open('final.tmp/a', 'w').close(); os.rename('final.tmp', 'end')",
        "os.remove('latest'); os.symlink('datasets.py', 'latest')",
        "os.link('log.txt', 'hard.txt')",
        "os.chmod('log.txt', 0o600)",
        "os.replace('log.txt', 'saved/old.pt')",
        "sys.path.insert(0, '.'); import datasets",
        "os.makedirs('a/b/c'); open('a/b/c/d', 'w').close()",
        "open('latest', 'w').write('through the link')",
    ],
)
def test_everything_is_put_back(folder: Path, tmp_path: Path, deeds: str) -> None:
    before = state(folder)
    run(folder, tmp_path / "journal", deeds)
    assert state(folder) != before
    assert put_back(tmp_path / "journal") == []
    assert state(folder) == before


def test_what_was_changed_after_a_run_that_was_cut_off_is_left(
    folder: Path, tmp_path: Path
) -> None:
    deeds = "open('log.txt', 'w').write('new'); open('best.pt', 'w').write('of a run')"
    run(folder, tmp_path / "journal", deeds)
    (folder / "best.pt").write_text("of the user")
    later_s = time.time() + 60
    os.utime(folder / "best.pt", (later_s, later_s))
    assert put_back(tmp_path / "journal", stale=True) == [folder / "best.pt"]
    assert (folder / "best.pt").read_text() == "of the user"
    assert (folder / "log.txt").read_text() == "log"
