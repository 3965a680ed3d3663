"""Runs one side of a comparison under observation."""

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trainera.launch import local
from trainera.plan import Converted
from trainera.verify.files import settle

_STACK_S = 1.0
"""How long workers are given to write down where they are."""

OBSERVERS = {
    "torch": "trainera.verify.observe.start",
    "keras": "trainera.verify.observe.keras.start",
}
"""By framework: the module that observes a process from inside."""
ALONE = {"torch": "agent", "keras": "alone"}
"""By framework: who starts the sequential script."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is to be compared, and how."""

    script: Path
    parallel: Path
    """The same script where trainera converts it, else the one that was written by hand."""
    converted: tuple[Converted, ...]
    arguments: tuple[str, ...]
    workers: int
    engine: str
    dtype: str = "float64"
    steps: int | None = None
    epochs: int | None = None
    agent: str = "agent"
    """Who starts the workers: the engine's own."""
    processes: int | None = None
    """How many processes they are, where that is another number."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """What these are given besides."""
    framework: str = "torch"
    seed: int = 0
    exact: bool = True
    draws_alike: bool = False
    """Whether the parallel script draws the random numbers of the sequential one by itself."""
    patience_s: float | None = None
    """How long nothing may move; two minutes by default."""


@dataclass(frozen=True, kw_only=True)
class Side:
    """What one side of the comparison left behind."""

    name: str
    directory: Path
    workers: int
    status: int
    wall_s: float
    words: str
    """Why it failed, if it did."""
    stuck: bool = False
    """It was ended because nothing moved any more."""
    stacks: tuple[str, ...] = field(default=())

    @property
    def good(self) -> bool:
        """Whether the script came to a good end."""
        return self.status == 0 and not self.stuck


class Watch:
    """Looks on from outside: tells how far the run is, and ends it when nothing moves any more."""

    def __init__(
        self, directory: Path, workers: int, patience_s: float, progress: Callable[[int], None]
    ) -> None:
        self._traces = [directory / f"trace-{rank}.jsonl" for rank in range(workers)]
        self._directory = directory
        self._patience_s = patience_s
        self._progress = progress
        self._moved_s = time.monotonic()
        self._asked_s: float | None = None
        self._size = -1
        self._steps = 0
        self._read = 0
        self.stuck = False

    def __call__(self, pids: Mapping[int, int]) -> bool:
        now = time.monotonic()
        size = sum(_size(path) for path in self._traces)
        if size != self._size:
            self._size, self._moved_s = size, now
            self._count_steps()
        if now - self._moved_s < self._patience_s:
            return False
        if self._asked_s is None:
            self._asked_s = now
            for pid in pids.values():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGUSR1)
        self.stuck = now - self._asked_s > _STACK_S
        return self.stuck

    def _count_steps(self) -> None:
        with suppress(OSError), self._traces[0].open("rb") as file:
            file.seek(self._read)
            added = file.read()
            self._read += len(added)
            self._steps += added.count(b'{"k":"step"')
        self._progress(self._steps)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def observe(
    name: str,
    script: Path,
    converted: Sequence[Converted],
    arguments: Sequence[str],
    workers: int,
    *,
    directory: Path,
    settings: Mapping[str, object],
    patience_s: float,
    progress: Callable[[int], None],
    agent: str,
    observer: str,
    environment: Mapping[str, str],
) -> Side:
    """Runs the script and leaves the user's files as they were."""
    directory.mkdir(parents=True)
    watch = Watch(directory, workers, patience_s, progress)
    words: list[str] = []
    began_s = time.monotonic()
    try:
        status = local.run(
            script,
            converted,
            arguments,
            workers,
            say=words.append,
            pass_on=words.append,
            agent=agent,
            environment=environment,
            alone=name == "sequential",
            observer=local.Observer(
                module=observer, settings={**settings, "directory": str(directory)}, watch=watch
            ),
        )
    finally:
        settle(directory)
    stacks: tuple[str, ...] = ()
    if watch.stuck:
        found = [directory / f"stack-{rank}" for rank in range(workers)]
        stacks = tuple(path.read_text(errors="replace") if path.exists() else "" for path in found)
    return Side(
        name=name,
        directory=directory,
        workers=workers,
        status=status,
        wall_s=time.monotonic() - began_s,
        words="\n".join(words),
        stuck=watch.stuck,
        stacks=stacks,
    )
