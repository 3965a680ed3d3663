"""kill -9 at random moments, then on: every planned run is there once, and nothing else is left."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCRIPT = """\
import time
time.sleep(0.05)
print("accuracy 0.5")
"""
RUNS = 30
KILLS = 10


def start(folder: Path) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "trainera", "bench", "patient_script.py"),
            *("--strategies", "sequential", "--repetitions", str(RUNS), "--warm-up", "0"),
        ],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def counts(store: Path) -> dict[str, int]:
    connection = sqlite3.connect(store)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        found = connection.execute("SELECT state, COUNT(*) FROM runs GROUP BY state").fetchall()
        assert connection.execute("SELECT COUNT(*) FROM experiments").fetchone() in [(0,), (1,)]
        return dict(found)
    except sqlite3.OperationalError:  # killed before there were tables
        return {}
    finally:
        connection.close()


def left_behind(folder: Path) -> list[str]:
    """Processes that still work in the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "cwd").resolve() == folder.resolve() and int(entry.name) != os.getpid():
                found.append((entry / "cmdline").read_text().replace("\0", " "))
        except OSError:
            continue
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_killed_ten_times_and_resumed(tmp_path: Path) -> None:
    (tmp_path / "patient_script.py").write_text(SCRIPT)
    store = tmp_path / "trainera-bench.db"
    moments = random.Random(5)
    process = start(tmp_path)
    # The first start looks at the machine; the kills are to fall on the runs.
    deadline = time.monotonic() + 120
    while not (store.exists() and counts(store).get("done")) and time.monotonic() < deadline:
        time.sleep(0.05)
    seen = 0
    for _ in range(KILLS):
        time.sleep(moments.uniform(0.0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = counts(store)
        assert sum(found.values()) == RUNS
        assert found.get("done", 0) >= seen, "a finished run was lost"
        seen = found.get("done", 0)
        process = start(tmp_path)
    assert process.wait(timeout=150) == 0
    assert counts(store) == {"done": RUNS}
    connection = sqlite3.connect(store)
    positions = connection.execute("SELECT position FROM runs ORDER BY position").fetchall()
    connection.close()
    assert positions == [(number,) for number in range(RUNS)]
    patience = time.monotonic() + 10
    while left_behind(tmp_path) and time.monotonic() < patience:
        time.sleep(0.1)
    assert left_behind(tmp_path) == []


def test_two_benchmarks_on_one_store(tmp_path: Path) -> None:
    (tmp_path / "patient_script.py").write_text("import time\ntime.sleep(30)\n")
    first = start(tmp_path)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "trainera-bench.db").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        command = [sys.executable, "-m", "trainera", "bench", "patient_script.py"]
        second = subprocess.run(
            [*command, "--strategies", "sequential"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=100,
        )
    finally:
        first.kill()
        first.wait()
    assert second.returncode == 1
    assert "another benchmark is writing there" in second.stderr
