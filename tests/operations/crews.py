"""Persistent crews: workers that have torch already and execute one converted script after another.

Starting a process group takes longer than most of these scripts run. So the workers of a crew stay
joined, and a script finds them as it would find them after its own `crew.join()`. A crew in which
anything failed is ended, and the next one starts from a fresh fork. The collectives are the real
ones. `print` is the one thing that is replaced: it records the objects that it is given, so that
they are compared as they are, and not as they are formatted.
"""

import contextlib
import ctypes
import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any

from tests.tools.runs import free_port

START_S = 60.0
SCRIPT_S = 30.0
GRACE_S = 0.5
"""Once a worker has failed: how long the others may take to get as far as it was."""


@dataclass(frozen=True)
class Ran:
    """What came of one script: what the first worker printed, or how a worker failed."""

    printed: list[Any] = field(default_factory=list)
    error: str | None = None


def execute(path: str) -> Ran:
    """Runs a script in this process; what it prints is recorded."""
    import torch

    printed: list[Any] = []

    def record(*values: Any, **_: Any) -> None:
        printed.append(frozen(list(values)))

    before = Path.cwd()
    os.chdir(Path(path).parent)
    torch.set_default_dtype(torch.float32)
    names = {"__name__": "__main__", "__file__": path, "print": record}
    try:
        exec(compile(Path(path).read_text(), path, "exec", dont_inherit=True), names)
    except SystemExit as error:
        if error.code not in (None, 0):
            return Ran(printed, f"SystemExit: {error.code}")
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        return Ran(printed, f"{type(error).__name__}: {str(error)[:300]} ({place})")
    finally:
        names.clear()
        os.chdir(before)
        torch.set_default_dtype(torch.float32)
    return Ran(printed)


def frozen(value: Any) -> Any:
    """A printed object as it is now, without its history, and fit to be sent to another process."""
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor):
        kept = value.detach()
        kept = kept.to_dense() if kept.layout != torch.strided else kept
        # An array is sent by value; a tensor would be sent as a file descriptor.
        return ("tensor", str(kept.dtype), kept.clone().resolve_conj().resolve_neg().numpy())
    if isinstance(value, torch.Size):
        return [int(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return ("array", str(value.dtype), np.array(value))
    if isinstance(value, list | tuple):
        return [frozen(item) for item in value]
    if isinstance(value, dict):
        return {str(key): frozen(item) for key, item in value.items()}
    if isinstance(value, bool | int | float | complex | str | None):
        return value
    return repr(value)


def end_with_parent() -> None:
    """Asks Linux to kill this process when the one that forked it ends, however it ends.

    A worker that waits for another one in a collective would not notice that its pipe is closed.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)


class Fork:
    """A child process and a pipe to it."""

    def __init__(self, work: Callable[[Connection], None]) -> None:
        self.pipe, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            status = 1
            try:
                end_with_parent()
                signal.signal(signal.SIGINT, signal.SIG_IGN)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                self.pipe.close()
                work(theirs)
                status = 0
            except (EOFError, BrokenPipeError, ConnectionResetError):
                status = 0  # whoever gave the orders is gone
            except BaseException:
                traceback.print_exc(file=sys.__stderr__)
            finally:
                os._exit(status)
        theirs.close()

    def end(self) -> None:
        with contextlib.suppress(OSError):
            self.pipe.close()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)


def serve(pipe: Connection) -> None:
    """A process that runs one list of scripts after the other, and tells of each at once."""
    gc.freeze()
    while True:
        for path in pipe.recv():
            ran = execute(path)
            pipe.send(ran)
            if ran.error is not None:
                break  # the others may wait for this one: all of them will be ended
        gc.collect()


def serve_as(rank: int, size: int, port: int) -> Callable[[Connection], None]:
    """A worker of a crew, as torchrun would start it."""

    def work(pipe: Connection) -> None:
        os.environ.update(
            RANK=str(rank),
            LOCAL_RANK=str(rank),
            WORLD_SIZE=str(size),
            LOCAL_WORLD_SIZE=str(size),
            MASTER_ADDR="127.0.0.1",
            MASTER_PORT=str(port),
        )
        serve(pipe)

    return work


class Crew:
    """Some workers; started again whenever one of them fails."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.workers: list[Fork] = []

    def run(self, paths: list[str]) -> list[Ran]:
        """Runs scripts in all workers; of each the first worker's result, or the first failure."""
        results: list[Ran] = []
        while len(results) < len(paths):
            results += self._run(paths[len(results) :])
            if results[-1].error is not None:
                self.end()
        return results

    def _run(self, paths: list[str]) -> list[Ran]:
        """Runs scripts until one of them fails."""
        timeout = SCRIPT_S
        if not self.workers:
            port = free_port()
            self.workers = [Fork(serve_as(rank, self.size, port)) for rank in range(self.size)]
            timeout += START_S
        done: list[list[Ran]] = [[] for _ in self.workers]
        try:
            for worker in self.workers:
                worker.pipe.send(paths)
        except OSError:
            return [Ran([], "a worker was gone")]
        deadline = time.monotonic() + timeout
        failed: str | None = None
        before = len(paths)  # so many scripts came before the one that failed
        while min(map(len, done)) < min(len(paths), before):
            waiting = {
                worker.pipe: rank
                for rank, worker in enumerate(self.workers)
                if len(done[rank]) < len(paths) and not (done[rank] and done[rank][-1].error)
            }
            ready = wait(list(waiting), max(deadline - time.monotonic(), 0)) if waiting else []
            if not ready:
                failed = failed or f"no answer after {timeout:.0f} s"
                break
            for pipe in ready:
                rank = waiting[pipe]  # type: ignore[index]
                try:
                    ran: Ran = pipe.recv()  # type: ignore[union-attr]
                except (EOFError, ConnectionResetError):
                    ran = Ran([], f"worker {rank} died")
                done[rank].append(ran)
                if failed is None and ran.error is not None:
                    failed = ran.error
                    before = len(done[rank]) - 1
                    deadline = min(deadline, time.monotonic() + GRACE_S)
                elif failed is None:
                    timeout = SCRIPT_S
                    deadline = time.monotonic() + timeout
        if failed is None:
            return done[0]
        # What all had done before one of them failed is good.
        good = min(sum(ran.error is None for ran in mine) for mine in done)
        return [*done[0][:good], Ran([], failed)]

    def end(self) -> None:
        for worker in self.workers:
            worker.end()
        self.workers = []


class Runner:
    """All the crews that are needed; a forked process that has torch and nothing else starts them.

    Forking from the process that evaluates the operations would hand on whatever state they left.
    """

    def __init__(self) -> None:
        self.child = Fork(self._serve)

    @staticmethod
    def _serve(pipe: Connection) -> None:
        crews: dict[int, Crew] = {}
        sink = open(os.devnull, "w")  # noqa: SIM115, PTH123 (open to the end)
        os.dup2(sink.fileno(), 2)  # warnings of operations are no news here
        try:
            while True:
                paths, size = pipe.recv()
                pipe.send(crews.setdefault(size, Crew(size)).run(paths))
        finally:
            for crew in crews.values():
                crew.end()

    def run(self, paths: list[Path], size: int) -> list[Ran]:
        """Runs scripts, one after the other, as `size` workers."""
        if not paths:
            return []
        self.child.pipe.send(([str(path) for path in paths], size))
        results: list[Ran] = self.child.pipe.recv()
        return results

    def close(self) -> None:
        """Ends the process that has the crews; it ends them when its pipe closes."""
        with contextlib.suppress(OSError):
            self.child.pipe.close()
        end = time.monotonic() + 5
        while time.monotonic() < end:
            with contextlib.suppress(ChildProcessError):
                if os.waitpid(self.child.pid, os.WNOHANG)[0] == 0:
                    time.sleep(0.02)
                    continue
            return
        self.child.end()
