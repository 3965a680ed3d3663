"""What Linux offers to leave no process behind; elsewhere the same calls do what they can.

Nothing here knows about training. The prctl(2) numbers are the kernel's; Python has no names.
"""

import ctypes
import os
import signal
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_GET_CHILD_SUBREAPER = 37

_SWEEP_S = 3.0
"""How long to wait for killed processes to vanish: only one stuck in the kernel takes longer."""


def die_with_parent(parent: int) -> None:
    """Has the kernel kill this process when its parent ends, however the parent ends."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it was over before we asked
        os._exit(1)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Grandchildren whose parent dies become children of this process, which can then reap them.

    Otherwise the init process would have to, and in many containers there is none that does.
    """
    if sys.platform != "linux":
        yield
        return
    before = ctypes.c_int(0)
    _prctl(_PR_GET_CHILD_SUBREAPER, ctypes.addressof(before))
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(_PR_SET_CHILD_SUBREAPER, before.value)


def end_sessions(leaders: Iterable[int]) -> None:
    """Kills every process of the sessions that these children lead.

    The leaders themselves must not have been reaped yet: a zombie keeps its number, so that no
    stranger can have been given it.
    """
    sessions = frozenset(leaders)
    deadline = time.monotonic() + _SWEEP_S
    for session in sessions:
        # macOS answers "not permitted" for a group of zombies.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(session, signal.SIGKILL)
    while time.monotonic() < deadline:
        followers = [one for one in _processes() if one.session in sessions - {one.pid}]
        if not followers:
            return
        for one in followers:
            with suppress(ProcessLookupError, ChildProcessError):
                if one.state != "Z":
                    os.kill(one.pid, signal.SIGKILL)
                elif one.parent == os.getpid():
                    os.waitpid(one.pid, os.WNOHANG)
        time.sleep(0.01)


def loopback_interface() -> str | None:
    """The name of the interface that never leaves this machine."""
    names = {name for _, name in socket.if_nameindex()}
    return next((name for name in ("lo", "lo0") if name in names), None)


class _Process(NamedTuple):
    pid: int
    state: str
    parent: int
    session: int


def _processes() -> Iterator[_Process]:
    """All processes of this machine; none where there is no /proc."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            # The name stands in parentheses and may itself contain any character.
            fields = (entry / "stat").read_text(errors="replace").rpartition(")")[2].split()
            yield _Process(int(entry.name), fields[0], int(fields[1]), int(fields[3]))


def _prctl(option: int, argument: int) -> None:
    """Calls prctl(2). A kernel that refuses only makes the cleaning up less thorough."""
    ctypes.CDLL(None).prctl(option, ctypes.c_ulong(argument), 0, 0, 0)
