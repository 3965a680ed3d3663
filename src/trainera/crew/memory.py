"""Collectives through memory that the workers of one machine share.

Gloo sends through sockets and wakes a sleeping thread for every message. Where all cores compute
that takes milliseconds, and a batch normalisation sends two messages in every step. Here each
worker writes into a place of its own, says so by a number, and watches the numbers of the others;
it sleeps only if that takes long, or keeps somebody else from computing.
"""

import ctypes
import itertools
import mmap
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import torch

from trainera.crew.waiting import WAITING

# Of each worker: how many meetings it came to, what for (two, by turns), and which process it is.
LINE_BYTES = 128  # two cache lines, because neighbours are fetched in pairs
CAME, WHAT, PROCESS = 0, 1, 3
PLACE_BYTES = 1 << 22
SMALL_BYTES = 1 << 15
FEW_WORKERS = 2  # of so few each adds up everything: sharing that takes another meeting and copy
# How long to watch before sleeping: not at all longer where another process wants the core, which
# is where giving it away takes time.
SPINS = 1000
YIELD_S = 0.005
BUSY_S = 0.00005
LOOK_S = 0.2
# Linux's futex: sleep until a number in memory is another one. (There are no names for it.)
SYSCALL, WAIT, WAKE, EVERYBODY, NUMBER = 202, 0, 1, 0x7FFFFFFF, 0xFFFFFFFF
SUM, BROADCAST, GATHER, MEET = range(4)
WORDS = ("sums", "broadcasts", "gathers", "waits with")


class WorkerLost(RuntimeError):
    """Another worker is gone. (The launcher knows the name: it is no failure of this worker's.)"""


class OutOfStep(RuntimeError):
    """Another worker does something else."""


class Memory:
    """What all workers see: a line of numbers and two places for each of them.

    Two, so that one meeting for an exchange is enough: whoever comes to the next one has read all
    of the last, and what is written now is not what a slower worker still reads.
    """

    def __init__(self, file: int, rank: int, size: int, limit_s: float) -> None:
        self.rank = rank
        self.size = size
        self.limit_s = limit_s
        lines = size * LINE_BYTES
        # Closed by nobody: it lives as long as the last process that has it.
        room = mmap.mmap(file, Memory.bytes_for(size))
        self.step = LINE_BYTES // 8
        self.lines = memoryview(room)[:lines].cast("q")
        self.places = torch.frombuffer(room, dtype=torch.uint8, offset=lines).view(2, size, -1)
        self.mine = rank * self.step
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(room))
        self.nap = Duration(0, int(LOOK_S * 1e9))
        self.system = ctypes.CDLL(None).syscall
        self.system.argtypes = (
            ctypes.c_long, ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32, ctypes.c_void_p
        )  # fmt: skip
        self.lines[self.mine + PROCESS] = os.getpid()
        self.meetings = 0
        self.turn = 0

    @staticmethod
    def bytes_for(size: int) -> int:
        return size * (LINE_BYTES + 2 * PLACE_BYTES)

    def exchange(self, mine: torch.Tensor | None, what: int) -> torch.Tensor:
        """Writes bytes, if any, where the others read them; the places of all, when all did so."""
        self.turn ^= 1
        places = self.places[self.turn]
        if mine is not None:
            places[self.rank, : mine.numel()] = mine
        self.meet(what)
        return places

    def meet(self, what: int) -> None:
        """Returns when all workers have come, for the same reason."""
        lines = self.lines
        self.meetings += 1
        came, cell = self.meetings, WHAT + (self.meetings & 1)
        lines[self.mine + cell] = what
        lines[self.mine + CAME] = came
        self._futex(self.mine, WAKE, EVERYBODY)
        for other in range(0, self.size * self.step, self.step):
            if lines[other + CAME] < came:
                with WAITING:
                    self._watch(other, came)
            if lines[other + cell] != what:
                raise OutOfStep(
                    f"worker {other // self.step} {in_words(lines[other + cell])} where worker "
                    f"{self.rank} {in_words(what)}: the workers got out of step"
                )

    def _watch(self, other: int, came: int) -> None:
        lines = self.lines
        for _ in range(SPINS):
            if lines[other + CAME] >= came:
                return
        start = time.monotonic()
        now = before = start
        while lines[other + CAME] < came and now - start < YIELD_S and now - before < BUSY_S:
            os.sched_yield()
            before, now = now, time.monotonic()
        while (seen := lines[other + CAME]) < came:
            self._futex(other, WAIT, seen & NUMBER)
            now = time.monotonic()
            if now - start < LOOK_S:
                continue
            late = f"worker {self.rank} waited for worker {other // self.step}"
            if not is_alive(lines[other + PROCESS]) and lines[other + CAME] < came:
                raise WorkerLost(f"{late}, which is gone")
            if now - start > self.limit_s:
                raise WorkerLost(f"{late} and timed out after {self.limit_s:.0f} s")

    def _futex(self, line: int, verb: int, number: int) -> None:
        """Wakes who sleeps until this line's number changes, or sleeps while it is this one."""
        address = self.address + 8 * (line + CAME)
        self.system(SYSCALL, address, verb, number, ctypes.byref(self.nap))


class Duration(ctypes.Structure):
    """Seconds and nanoseconds."""

    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def in_words(what: int) -> str:
    """What a worker came to a meeting for."""
    return f"{WORDS[what % len(WORDS)]} {what // len(WORDS)} bytes"


def is_alive(process: int) -> bool:
    """Whether a process runs; one that has ended and was not yet waited for does not."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def open_memory(store: Any, rank: int, size: int, timeout: timedelta) -> Memory | None:
    """Memory that all workers have opened; None on all of them if one of them could not."""
    file = None
    try:
        file = make_file(store, size) if rank == 0 else find_file(store)
    except OSError:
        if rank == 0:
            store.set("place", "")
    memory = None
    if file is not None:
        memory = Memory(file, rank, size, timeout.total_seconds())
    store.set(f"opened{rank}", "yes" if memory else "no")
    answers = [store.get(f"opened{other}") for other in range(size)]
    if file is not None:
        os.close(file)
    return memory if all(answer == b"yes" for answer in answers) else None


def make_file(store: Any, size: int) -> int | None:
    """A file in memory, which has no name: nothing is left of it when the workers are gone."""
    # Only on x86 do all see what was written before the number, once they see the number.
    if not hasattr(os, "memfd_create") or platform.machine().lower() not in ("x86_64", "amd64"):
        store.set("place", "")
        return None
    token = secrets.token_hex(8)
    file = os.memfd_create(f"trainera-{token}")
    os.ftruncate(file, Memory.bytes_for(size))
    store.set("place", f"{os.getpid()} {file} {token}")
    return file


def find_file(store: Any) -> int | None:
    """The first worker's file; none if that is on another machine or cannot be seen from here."""
    words = store.get("place").decode().split()
    if not words:
        return None
    process, number, token = words
    link = f"/proc/{process}/fd/{number}"
    return os.open(link, os.O_RDWR) if token in os.readlink(link) else None  # noqa: PTH115


class SharedCollectives:
    """Sums, broadcasts and gathers tensors on the CPU; every worker gets the very same bits."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.lock = threading.Lock()  # threads of one worker may both have something to send

    @torch.no_grad()
    def add_up(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the sum of those of all workers, added up in their order."""
        dense = torch.view_as_real(tensor) if tensor.is_complex() else tensor
        flat = dense.contiguous().view(-1)
        kind, content = flat.dtype, flat.view(torch.uint8)
        what = content.numel() * len(WORDS) + SUM
        with self.lock:
            for part in pieces(content):
                places = self.memory.exchange(part, what)[:, : part.numel()].view(kind)
                if part.numel() <= SMALL_BYTES or self.memory.size <= FEW_WORKERS:
                    total(places, part.view(kind))
                else:
                    self._share_the_work(places, part.view(kind), what)
        if flat.data_ptr() != tensor.data_ptr():
            dense.copy_(flat.view(dense.shape))

    def _share_the_work(self, places: torch.Tensor, result: torch.Tensor, what: int) -> None:
        """Each worker adds up its part, in its own place, and all read the parts of all."""
        memory = self.memory
        bounds = [result.numel() * rank // memory.size for rank in range(memory.size + 1)]
        parts = [slice(*pair) for pair in itertools.pairwise(bounds)]
        mine = parts[memory.rank]
        total(places[:, mine], places[memory.rank, mine])
        memory.meet(what)
        for rank, part in enumerate(parts):
            result[part] = places[rank, part]

    @torch.no_grad()
    def broadcast(self, tensor: torch.Tensor, root: int = 0) -> None:
        """Replaces the tensor by that of one worker."""
        whole = tensor.contiguous()
        content = whole.view(-1).view(torch.uint8)
        what = content.numel() * len(WORDS) + BROADCAST
        mine = root == self.memory.rank
        with self.lock:
            for part in pieces(content):
                places = self.memory.exchange(part if mine else None, what)
                if not mine:
                    part.copy_(places[root, : part.numel()])
        if whole is not tensor and not mine:
            tensor.copy_(whole)

    @torch.no_grad()
    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The tensors, of one size and type, of all workers in their order."""
        whole = tensor.contiguous()
        gathered = [torch.empty_like(whole) for _ in range(self.memory.size)]
        content, *rooms = (each.view(-1).view(torch.uint8) for each in (whole, *gathered))
        what = content.numel() * len(WORDS) + GATHER
        with self.lock:
            for part, *parts in zip(*map(pieces, (content, *rooms)), strict=True):
                places = self.memory.exchange(part, what)
                for room, place in zip(parts, places, strict=True):
                    room.copy_(place[: part.numel()])
        return gathered

    def meet(self) -> None:
        """Returns when all workers have called it."""
        with self.lock:
            self.memory.meet(MEET)


def pieces(content: torch.Tensor) -> Iterator[torch.Tensor]:
    """Bytes in parts that a place has room for; one empty part if there are none."""
    return iter(torch.split(content, PLACE_BYTES) if content.numel() else (content,))


def total(places: torch.Tensor, result: torch.Tensor) -> None:
    """Adds up rows in their order, the same on every machine and for every worker."""
    *first, last = places.unbind()
    torch.add(reduce(torch.add, first), last, out=result)
