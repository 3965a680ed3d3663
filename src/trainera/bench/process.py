"""Starts one run in a process of its own, watches it, and leaves nothing behind."""

import os
import select
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from trainera.bench import hooks
from trainera.bench.design import Subject
from trainera.bench.hooks import meter
from trainera.bench.strategies import Strategy
from trainera.launch.devices import keep_memory
from trainera.launch.system import end_sessions

_TAIL = 4000
"""Characters of an error that are kept."""


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How a process came to its end."""

    status: int
    """As a shell has it; negative for a signal."""
    timed_out: bool
    wall_s: float
    cpu_s: float
    """Of it and of all that it started and waited for."""
    stdout: str
    stderr: str

    @property
    def last_words(self) -> str:
        return self.stderr.strip()[-_TAIL:]


def environment(
    records: Path, *, script: bool, phases: bool, threads: int | None, journal: Path | None = None
) -> dict[str, str]:
    """The environment that has the processes of a run measured, each into a file of `records`.

    What they overwrite is kept in the `journal`.
    """
    found = dict(os.environ)
    folder = str(Path(hooks.__file__).parent)
    found["PYTHONPATH"] = os.pathsep.join(filter(None, [folder, found.get("PYTHONPATH")]))
    found[meter.FOLDER] = str(records)
    found[meter.PARENT] = str(os.getpid())
    found[meter.ROLE] = "script" if script else "workers"
    found[meter.PHASES] = str(int(phases))
    if journal is not None:
        found[meter.JOURNAL] = str(journal)
    # One seed for the hashes of strings in all runs, as `run` gives it to workers.
    found.setdefault("PYTHONHASHSEED", "0")
    found["PYTHONUNBUFFERED"] = "1"
    if script:  # `run` does it for workers; the speed of the allocator is none of what is compared
        keep_memory(found, 1)
    if threads is not None:
        found["OMP_NUM_THREADS"] = str(threads)
    return found


def command(subject: Subject, strategy: Strategy, arguments: Sequence[str]) -> list[str]:
    """The script by itself, or through ``trainera run``: what is measured is what users run."""
    if strategy.engine is None:
        return [subject.python, subject.script, *arguments]
    chosen = ["--engine", strategy.engine, "-n", str(strategy.workers), *strategy.options]
    return [subject.python, "-m", "trainera", "run", subject.script, *chosen, "--", *arguments]


def run_process(
    words: Sequence[str], environment: Mapping[str, str], folder: Path, timeout_s: float | None
) -> Ended:
    """Runs it to its end. Whatever it leaves behind is ended with it."""
    with tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        started_s = time.perf_counter()
        process = subprocess.Popen(
            words,
            env=dict(environment),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        try:
            timed_out = not _wait(process.pid, timeout_s)
            wall_s = time.perf_counter() - started_s
        finally:
            # Not reaped yet, so that its number, by which the others are found, is still its own.
            end_sessions([process.pid])
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        return Ended(
            status=process.returncode,
            timed_out=timed_out,
            wall_s=wall_s,
            cpu_s=used.ru_utime + used.ru_stime,
            stdout=_text(stdout),
            stderr=_text(stderr),
        )


def _wait(pid: int, timeout_s: float | None) -> bool:
    """Waits for the end without reaping; False if it takes too long."""
    if hasattr(os, "pidfd_open"):
        handle = os.pidfd_open(pid)
        try:
            return bool(select.select([handle], [], [], timeout_s)[0])
        finally:
            os.close(handle)
    deadline_s = None if timeout_s is None else time.monotonic() + timeout_s
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        if deadline_s is not None and time.monotonic() > deadline_s:
            return False
        time.sleep(0.02)
    return True


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode(errors="replace")
