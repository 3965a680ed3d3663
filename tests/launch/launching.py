"""Runs scripts through the launcher in a process of its own, and sees to it that nothing stays."""

import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import NoReturn, Protocol

import driver

MARK = "TRAINERA_TEST_RUN"


class Process(Protocol):
    pid: int

    def wait(self, timeout: float) -> int: ...


class Forked:
    """A child of this very process: torch, which takes long, is imported only once for all."""

    def __init__(self, child: Callable[[], NoReturn]) -> None:
        import torch.distributed.elastic.agent.server.api  # noqa: F401

        self.pid = os.fork()
        self._status: int | None = None
        if self.pid == 0:
            child()

    def wait(self, timeout: float) -> int:
        deadline = time.monotonic() + timeout
        while self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self._status = os.waitstatus_to_exitcode(status)
            elif time.monotonic() > deadline:
                raise TimeoutError(f"the run has not ended after {timeout} s")
            else:
                time.sleep(0.02)
        return self._status


@dataclass(frozen=True, kw_only=True)
class Ended:
    """What a run left: its status, its output, and how long it took."""

    status: int
    stdout: str
    stderr: str
    seconds: float


@dataclass(kw_only=True)
class Running:
    """A run under way."""

    process: Process
    folder: Path
    mark: str
    started_s: float = field(default_factory=time.monotonic)

    def send(self, what: signal.Signals, *, group: bool = False) -> None:
        """To the launcher alone, or as a terminal does to the whole foreground group."""
        (os.killpg if group else os.kill)(self.process.pid, what)

    def wait_for(self, name: str, seconds: float = 30) -> str:
        """The content of a file that the script writes to say how far it is."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            with suppress(FileNotFoundError):
                text = (self.folder / name).read_text()
                if text:
                    return text
            time.sleep(0.02)
        raise AssertionError(f"no {name} after {seconds} s")

    def end(self, seconds: float = 60) -> Ended:
        """Waits for the end, and checks that no process and no file is left."""
        status = self.process.wait(seconds)
        ended = Ended(
            status=status,
            stdout=(self.folder / "stdout").read_text(),
            stderr=(self.folder / "stderr").read_text(),
            seconds=time.monotonic() - self.started_s,
        )
        assert self.processes() == []
        assert list((self.folder / "tmp").iterdir()) == []
        return ended

    def processes(self) -> list[int]:
        """All that descends from this run, by a mark in the environment."""
        mark = f"{MARK}={self.mark}".encode()
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
        return found

    def kill(self) -> None:
        """Ends whatever of the run is left."""
        left = self.processes()
        try:
            self.process.wait(0)
        except (TimeoutError, subprocess.TimeoutExpired):
            left.append(self.process.pid)
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(10)


@dataclass(frozen=True, kw_only=True)
class Launch:
    """Starts runs in a folder of their own."""

    folder: Path
    running: list[Running] = field(default_factory=list)

    def __call__(
        self,
        source: str,
        workers: int = 2,
        *arguments: str,
        path: str = "train.py",
        files: Mapping[str, str] | None = None,
        after: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        terminal: int | None = None,
        fresh: bool = False,
    ) -> Running:
        """Runs `source` as `path`, among `files` of which those in `after` were converted.

        `fresh` starts a new interpreter, as the command line does; `terminal` takes the place of
        the files that otherwise take the output.
        """
        for name, text in {path: source, **(files or {})}.items():
            file = self.folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text))
        for name, text in (after or {}).items():
            (self.folder / f"{name}.after").write_text(dedent(text))
        temporary = self.folder / "tmp"
        if not temporary.exists():
            # Sockets go there, and the path of a socket has to be short.
            temporary.symlink_to(tempfile.mkdtemp(prefix="t"))
        mark = uuid.uuid4().hex
        inherited = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
        complete = {
            **inherited,
            "TMPDIR": str(temporary.resolve()),
            MARK: mark,
            **(environment or {}),
        }
        words = [path, str(workers), *arguments]
        streams = [
            os.open(os.devnull, os.O_RDONLY),
            os.open(self.folder / "stdout", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
            os.open(self.folder / "stderr", os.O_WRONLY | os.O_CREAT | os.O_TRUNC),
        ]
        used = streams if terminal is None else [streams[0], terminal, terminal]
        process: Process
        if fresh:
            process = subprocess.Popen(
                [sys.executable, driver.__file__, *words],
                cwd=self.folder,
                env=complete,
                stdin=used[0],
                stdout=used[1],
                stderr=used[2],
                start_new_session=True,
            )
        else:
            process = Forked(lambda: self._child(words, complete, used))
        for stream in streams:
            os.close(stream)
        self.running.append(Running(process=process, folder=self.folder, mark=mark))
        return self.running[-1]

    def _child(self, words: list[str], environment: dict[str, str], streams: list[int]) -> NoReturn:
        status = 99
        try:
            os.setsid()
            for number, stream in enumerate(streams):
                os.dup2(stream, number)
            os.chdir(self.folder)
            os.environ.clear()
            os.environ.update(environment)
            tempfile.tempdir = None
            signal.signal(signal.SIGINT, signal.default_int_handler)
            sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
            status = driver.main(words)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
