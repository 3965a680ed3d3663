"""Goes through entries, in as many processes as asked for."""

import gc
import os
import shutil
import sys
import tempfile
import time
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.operations.cases import Case
from tests.operations.crews import Fork, Runner
from tests.operations.judge import Judge, Outcome

Source = Callable[[], Iterator[Case]]


@dataclass(frozen=True)
class Entry:
    """An entry of a database, and how to get its cases."""

    family: str
    name: str
    cases: Source
    by_hand: bool = False
    """Whether all of its cases are tried, as nobody wrote one of them for nothing."""


@dataclass(frozen=True)
class Choice:
    """Which of the cases are tried, and in what."""

    uses: tuple[str, ...]
    limit: int = 0
    every: int = 1
    seed: int = 0


def chosen(entry: Entry, choice: Choice) -> list[Case]:
    """The cases of an entry: each wording in turn, so that a limit leaves some of all of them."""
    by_wording: dict[str, dict[str, Case]] = {}
    for case in entry.cases():
        wording = "\n".join([*case.setup, case.expression])
        by_wording.setdefault(wording, {}).setdefault(case.key, case)

    def rank(case: Case) -> int:
        return (case.digest * 2654435761 + choice.seed * 40503) % 2**32

    def order(wording: str) -> Callable[[Case], tuple[bool, bool, int]]:
        """Batches are mostly first, seldom second, hardly ever elsewhere; and seldom empty."""
        chance = zlib.crc32(wording.encode()) % 10
        liked = 0 if chance < 6 else 1 if chance < 9 else 2
        return lambda case: (case.is_empty, min(case.dim, 2) != liked, rank(case))

    columns = [sorted(group.values(), key=order(name)) for name, group in by_wording.items()]
    columns.sort(key=lambda column: rank(column[0]))
    ordered = [
        column[row]
        for row in range(max(map(len, columns), default=0))
        for column in columns
        if row < len(column)
    ]
    kept = [case for case in ordered if rank(case) % choice.every == 0]
    return kept[: choice.limit] if choice.limit and not entry.by_hand else kept


def prepare() -> None:
    """Imports all that workers need before they are forked."""
    import numpy
    import torch
    import torch._dynamo  # which DDP and optimizers import when they are made
    import torch.nn.parallel
    import torch.utils.data

    import trainera.crew
    import trainera.rewrite.apply

    assert numpy and trainera
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    warnings.filterwarnings("ignore")


def go_through(
    entries: list[Entry],
    choice: Choice,
    jobs: int,
    tell: Callable[[list[Outcome]], None] | None = None,
) -> list[Outcome]:
    """The outcomes of all entries, in their order; `tell` hears of each entry when it is done."""
    gc.collect()
    gc.freeze()  # else every collection goes through all of torch
    base = tempfile.mkdtemp(prefix="operations")
    pending = list(range(len(entries)))[::-1]
    results: dict[int, list[Outcome]] = {}
    begun = time.monotonic()

    def serve(pipe: Connection) -> None:
        runner = Runner()
        try:
            judge = Judge(Path(tempfile.mkdtemp(dir=base)), runner)
            while True:
                number = pipe.recv()
                entry = entries[number]
                found = judge.judge(chosen(entry, choice), choice.uses)
                gc.collect()
                pipe.send((number, found))
        finally:
            runner.close()

    busy: dict[Connection, tuple[Fork, int]] = {}

    def give(child: Fork) -> None:
        if pending:
            number = pending.pop()
            child.pipe.send(number)
            busy[child.pipe] = (child, number)
        else:
            idle.append(child)

    idle: list[Fork] = []
    try:
        for _ in range(min(jobs, len(entries))):
            give(Fork(serve))
        while busy:
            for pipe in wait(list(busy)):
                child, number = busy.pop(pipe)  # type: ignore[arg-type]
                try:
                    _, results[number] = child.pipe.recv()
                except (EOFError, ConnectionResetError):
                    # Some operation brought down the process that tried it by itself.
                    print(f"\n{entries[number].name}: the process died", file=sys.stderr)
                    results[number] = []
                    child.end()
                    child = Fork(serve)
                if tell:
                    tell(results[number])
                    _tell(results, len(entries), begun, entries[number].name)
                give(child)
    finally:
        _end([*idle, *(child for child, _ in busy.values())])
        shutil.rmtree(base, ignore_errors=True)
    if tell:
        print(file=sys.stderr)
    return [outcome for number in sorted(results) for outcome in results[number]]


def _end(children: list[Fork]) -> None:
    """Lets the processes end their crews, and ends those that do not."""
    for child in children:
        child.pipe.close()
    deadline = time.monotonic() + 3
    for child in children:
        while os.waitpid(child.pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > deadline:
                child.end()
                break
            time.sleep(0.02)


def _tell(results: dict[int, list[Outcome]], count: int, begun: float, name: str) -> None:
    from tests.operations.judge import BAD

    outcomes = [outcome for found in results.values() for outcome in found]
    bad = sum(outcome.verdict in BAD for outcome in outcomes)
    took = time.monotonic() - begun
    line = (
        f"\r{len(results)}/{count} entries, {len(outcomes)} outcomes, {bad} wrong or crashed, "
        f"{took:.0f} s  {name}"
    )
    print(f"{line[:118]:118}", end="", file=sys.stderr, flush=True)
