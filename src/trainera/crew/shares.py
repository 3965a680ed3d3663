"""What part of every batch each worker gets: the one place that decides how many rows that is.

Devices are not always alike. Shares say how much each is to carry: 12:12:1 gives the third worker a
25th of every batch. What a slice weighs follows from its rows, so the gradient stays what it is.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

SHARES_VARIABLE = "TRAINERA_SHARES"
AUTO = "auto"
FEWEST_ROWS = 2
"""Nobody gets a single row where there are more: scripts squeeze tensors, and a batch of one loses
its first dimension by that. Rather, some workers go without."""


class Shares:
    """The shares of all workers, in their order."""

    def __init__(self) -> None:
        self._parts: tuple[float, ...] = ()
        self.auto = False
        """Whether they follow what the workers can carry."""

    def take(self, words: str, workers: int) -> None:
        """Takes over what the user has written, the same on every worker."""
        if words == AUTO:
            self.auto = workers > 1
            return
        try:
            self._parts = parsed(words, workers) if words else ()
        except ValueError as error:
            raise SystemExit(f"trainera: {SHARES_VARIABLE}={words}: {error}") from None

    def move(self, parts: Sequence[float]) -> None:
        """From now on the shares are others."""
        self._parts = tuple(parts)

    def of(self, workers: int) -> tuple[float, ...]:
        """One share for each worker; all alike if nobody has said anything else."""
        return self._parts or (1.0,) * workers


def parsed(words: str, workers: int) -> tuple[float, ...]:
    """The shares that a user wrote as 5:2:1, one for each worker."""
    try:
        parts = tuple(float(word) for word in words.split(":"))
    except ValueError:
        raise ValueError(
            "shares are numbers with colons between them, such as 5:2:1, or auto"
        ) from None
    if not all(math.isfinite(part) and part >= 0 for part in parts):
        raise ValueError("a share is a number from 0 on")
    if len(parts) != workers:
        raise ValueError(f"there are {len(parts)} shares and {workers} workers: give each one")
    if not any(parts):
        raise ValueError("all shares are 0: somebody has to compute")
    return parts


def row_counts(count: int, parts: Sequence[float], all_work: bool = False) -> list[int]:
    """How many of a batch's rows each worker gets, as near to its share as whole rows allow.

    all_work: nobody goes without rows who would have some if all had equal shares.
    """
    if not all_work:
        return shared_out(count, parts)
    if count < FEWEST_ROWS * len(parts):
        return shared_out(count, [1.0] * len(parts))
    return with_rows_for_all(count, parts)


def shared_out(count: int, parts: Sequence[float]) -> list[int]:
    """Rows by share; who would get a single one goes without, the smallest share first."""
    working = [worker for worker, part in enumerate(parts) if part > 0]
    while True:
        counts = by_largest_remainder(count, parts, working)
        single = [worker for worker in working if 0 < counts[worker] < FEWEST_ROWS]
        if not single or count < FEWEST_ROWS:
            return counts
        working.remove(min(single, key=lambda worker: (parts[worker], -worker)))


def with_rows_for_all(count: int, parts: Sequence[float]) -> list[int]:
    """Rows by share, but for those whose share is too small, who get the fewest that there are."""
    workers = range(len(parts))
    small: set[int] = set()
    while True:
        working = [worker for worker in workers if worker not in small]
        counts = by_largest_remainder(count - FEWEST_ROWS * len(small), parts, working)
        fewer = {worker for worker in working if counts[worker] < FEWEST_ROWS}
        if not fewer:
            return [FEWEST_ROWS if worker in small else counts[worker] for worker in workers]
        small |= fewer


def by_largest_remainder(count: int, parts: Sequence[float], working: Sequence[int]) -> list[int]:
    """Whole rows by the parts of some of the workers: what is left goes where most is missing."""
    total = added_up(parts[worker] for worker in working)
    exact = {worker: count * parts[worker] / total for worker in working}
    counts = [math.floor(exact.get(worker, 0.0)) for worker in range(len(parts))]
    missing = sorted(working, key=lambda worker: (counts[worker] - exact[worker], worker))
    for worker in missing[: count - added_up(counts)]:
        counts[worker] += 1
    return counts


def told_apart(counts: list[int], may_idle: bool) -> list[int]:
    """The same rows, but not equally many for all: the first takes some of the last one's.

    Where all workers have equally many, a size says nothing of whether it counts rows.
    """
    dealt = [worker for worker, rows in enumerate(counts) if rows]
    if len(set(rows_seen(counts))) > 1 or len(dealt) < 2:
        return counts
    first, last = dealt[0], dealt[-1]
    if counts[last] < FEWEST_ROWS or (counts[last] == FEWEST_ROWS and not may_idle):
        return counts
    moved = 1 if counts[last] > FEWEST_ROWS else FEWEST_ROWS
    found = list(counts)
    found[first] += moved
    found[last] -= moved
    return found


def added_up(numbers: Iterable[Any]) -> Any:
    """Python's `sum`, whose name is another function's where the runtime stands in a script."""
    total = 0
    for number in numbers:
        total += number
    return total


def rows_seen(counts: Sequence[int]) -> list[int]:
    """How many rows each worker's script is given: stand-ins, where it has none of its own."""
    return [rows or min(FEWEST_ROWS, added_up(counts)) for rows in counts]


SHARES = Shares()
