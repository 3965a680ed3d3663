"""The worker processes of one machine: started, watched, and ended so that none stays behind.

Policy, in one place. A worker that fails gives the others a moment to fail too: that tells the root
cause from its consequences, and a script that ends in ``sys.exit(7)`` ends so in all workers, not
quite at once. Whoever is still there is then asked to end, and soon after made to.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from trainera.launch import failures
from trainera.launch.failures import Failure
from trainera.launch.system import end_sessions

AFTER_FAILURE_S = 2.0
AFTER_EXIT_S = 8.0
"""Longer: after ``sys.exit`` in one worker the others are on their way to the same line."""
AFTER_TERM_S = 2.0
AFTER_INTERRUPT_S = 5.0
"""For what the script does about an interrupt, such as saving where it is."""

_LOOK_EVERY_S = 0.02
_LAST_WORDS_BYTES = 4_000
_MUTED_BYTES = 1_000_000


class WorkerProcess:
    """One worker, leader of a session of its own. It stays unreaped until `reap`."""

    def __init__(self, rank: int, process: "subprocess.Popen[bytes]", muted: Path | None) -> None:
        self.rank = rank
        self.pid = process.pid
        self.ended_s: float | None = None
        self.code = 0
        """The exit status, or minus the number of the signal, once ended."""
        self._process = process
        self._muted = muted
        self._told: set[signal.Signals] = set()

    def look(self) -> None:
        """Notices the end of the process, and keeps what it says to nobody from piling up."""
        if self.ended_s is not None:
            return
        code = self._poll()
        if code is not None:
            self.ended_s, self.code = time.monotonic(), code
        elif self._muted is not None and self._muted.stat().st_size > _MUTED_BYTES:
            os.truncate(self._muted, 0)

    def tell(self, what: signal.Signals) -> None:
        """Sends a signal, once, to the worker alone: its loader processes follow it."""
        if self.ended_s is None and what not in self._told:
            self._told.add(what)
            with suppress(ProcessLookupError):
                os.kill(self.pid, what)

    def failure(self, directory: Path) -> Failure | None:
        """How it went down of itself; nothing if it did not, or if we brought it down."""
        left = failures.read(directory, self.rank)
        if left is not None:
            return left
        if self.ended_s is None or self.code == 0 or -self.code in self._told:
            return None
        return Failure(
            rank=self.rank,
            pid=self.pid,
            time_s=self.ended_s,
            kind="signal" if self.code < 0 else "silent",
            status=abs(self.code),
            text=self._last_words(),
        )

    def reap(self) -> None:
        """Lets the system forget the process, which must have ended or been killed."""
        with suppress(subprocess.TimeoutExpired):  # stuck in the kernel: not ours to mend
            self._process.wait(timeout=5)

    def _poll(self) -> int | None:
        if not hasattr(os, "waitid"):
            return self._process.poll()
        seen = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if seen is None:
            return None
        return seen.si_status if seen.si_code == os.CLD_EXITED else -seen.si_status

    def _last_words(self) -> str:
        """What the worker wrote to standard error in the end, if the user has not seen it."""
        if self._muted is None:
            return ""
        return self._muted.read_bytes()[-_LAST_WORDS_BYTES:].decode(errors="replace").strip()


class Workers:
    """All workers of this machine."""

    def __init__(
        self,
        directory: Path,
        received: list[signal.Signals],
        watch: Callable[[Mapping[int, int]], bool] | None = None,
    ) -> None:
        self.directory = directory
        self._watch = watch
        """Whoever looks on may ask for the end, as if a signal had been sent."""
        self._received = received
        """Signals that the launcher was sent; grows while the workers run."""
        self._received_s: float | None = None
        self._all: list[WorkerProcess] = []

    def start(self, command: Sequence[str], environments: Sequence[Mapping[str, str]]) -> None:
        """Starts one process for each environment, in the order of the ranks.

        The first has this process' own standard streams, so that what it writes needs nobody to
        pass it on and is a terminal if ours is. The others say nothing to anybody.
        """
        # Until the script runs nobody in the worker can deal with an interrupt: it has to wait.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            for rank, environment in enumerate(environments):
                muted = self.directory / f"stderr-{rank}" if rank else None
                self._all.append(WorkerProcess(rank, _popen(command, environment, muted), muted))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    @property
    def pids(self) -> dict[int, int]:
        """Process numbers by rank."""
        return {worker.rank: worker.pid for worker in self._all}

    def failures(self) -> list[Failure]:
        """Those that went down of themselves so far."""
        found = [worker.failure(self.directory) for worker in self._all]
        return [failure for failure in found if failure is not None]

    def finished(self) -> list[int]:
        """The ranks that came to a good end."""
        return [worker.rank for worker in self._all if worker.ended_s and worker.code == 0]

    def poll(self) -> bool:
        """Looks after all workers once; whether all have ended."""
        for worker in self._all:
            worker.look()
        living = [worker for worker in self._all if worker.ended_s is None]
        if not living:
            return True
        now = time.monotonic()
        if self._watch is not None and not self._received and self._watch(self.pids):
            self._received.append(signal.SIGTERM)
        if self._received:
            self._received_s = self._received_s or now
            impatient = len(self._received) > 1
            overdue = impatient or now > self._received_s + AFTER_INTERRUPT_S
            self._tell(living, signal.SIGKILL if overdue else self._received[0])
        elif down := self.failures():
            patience = AFTER_EXIT_S if all(one.kind == "exit" for one in down) else AFTER_FAILURE_S
            late = now - min(one.time_s for one in down) - patience
            if late > 0:
                self._tell(living, signal.SIGTERM if late < AFTER_TERM_S else signal.SIGKILL)
        return False

    def dismiss(self) -> None:
        """Asks those to end that are still there, because nobody needs them any more."""
        late_s = time.monotonic() + AFTER_TERM_S
        while time.monotonic() < late_s:
            for worker in self._all:
                worker.look()
            living = [worker for worker in self._all if worker.ended_s is None]
            if not living:
                return
            self._tell(living, signal.SIGTERM)
            time.sleep(_LOOK_EVERY_S)

    def end(self, *, followers: bool) -> None:
        """Ends what is left and reaps the workers. Can be called again.

        `followers` asks to end also what the workers have started. After a good end these are left
        alone, as Python leaves them.
        """
        workers, self._all = self._all, []
        for worker in workers:
            worker.look()
        left = [one.pid for one in workers if followers or one.ended_s is None]
        end_sessions(left)
        for worker in workers:
            worker.reap()

    @staticmethod
    def _tell(living: Sequence[WorkerProcess], what: signal.Signals) -> None:
        for worker in living:
            worker.tell(what)


def _popen(
    command: Sequence[str], environment: Mapping[str, str], muted: Path | None
) -> "subprocess.Popen[bytes]":
    if muted is None:
        return subprocess.Popen(command, env=environment, start_new_session=True)
    with muted.open("ab") as stderr:
        return subprocess.Popen(
            command,
            env=environment,
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
        )
