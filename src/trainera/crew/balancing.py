"""Shares that follow what each worker can carry: `--shares auto`.

A worker's step takes a fixed time and a time for each row. Each measures its own, without waiting
for others, and now and then they tell each other. From the same figures all work out the same
shares: those with which the slowest worker is done soonest.
"""

import math
import statistics
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import torch

from trainera.crew.shares import FEWEST_ROWS, SHARES, added_up, row_counts
from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT
from trainera.crew.waiting import WAITING

WARM_UP = 2
"""Steps that are no measure: memory is taken for the first time, and networks are tried."""
TRIED = 4
"""So many steps with every second worker's rows doubled, and then with those of the others."""
TRIED_UNTIL = WARM_UP + 2 * TRIED
EXCHANGED_EVERY = 4
RECENT = 6
DAMPING = 0.6
"""How much of the way to better shares is gone at once."""
WORTH = 0.02
"""Less than this part of a step is not worth other shares: it may be noise."""

Plan = list[tuple[int, tuple[float, ...]]]
"""From which batch of a pass on which shares are dealt by."""


class Pace(NamedTuple):
    """What a step takes a worker, in seconds."""

    fixed: float
    each: float
    """For each row."""

    def of(self, rows: int) -> float:
        """Stand-ins are computed, too."""
        return self.fixed + self.each * max(rows, FEWEST_ROWS)


class Stopwatch:
    """Times one worker's steps, and knows what is fixed of them."""

    def __init__(self) -> None:
        self._tried: list[tuple[int, float]] = []
        self._recent: deque[tuple[int, float]] = deque(maxlen=RECENT)
        self._fixed_rows = 0.0
        """How many rows take as long as what is fixed."""

    def note(self, rows: int, seconds: float, tried: bool) -> None:
        self._recent.append((rows, seconds))
        if tried:
            self._tried.append((rows, seconds))
            self._fixed_rows = fixed_rows(self._tried)

    def pace(self) -> Pace:
        """Its fixed part stays as large a part: a device that slows down does all more slowly."""
        if not self._recent:
            return Pace(0.0, 0.0)
        times = (seconds / (self._fixed_rows + rows) for rows, seconds in self._recent)
        each = statistics.median(times)
        return Pace(each * self._fixed_rows, each)


def fixed_rows(steps: Sequence[tuple[int, float]]) -> float:
    """How many rows take as long as what does not depend on rows, from steps of several sizes."""
    sizes = sorted({rows for rows, _ in steps})
    few, many = sizes[0], sizes[-1]
    middle = (few + many) / 2
    if few == many:
        return 0.0
    less = [step for step in steps if step[0] <= middle]
    more = [step for step in steps if step[0] > middle]
    (rows, seconds), (more_rows, more_seconds) = typical(less), typical(more)
    each = (more_seconds - seconds) / (more_rows - rows)
    if each <= 0:  # noise
        return 0.0
    return min(max(0.0, seconds / each - rows), more_rows)


def typical(steps: Sequence[tuple[int, float]]) -> tuple[float, float]:
    """The medians of rows and of times."""
    rows, seconds = zip(*steps, strict=True)
    return statistics.median(rows), statistics.median(seconds)


def best_rows(count: int, paces: Sequence[Pace]) -> list[int]:
    """The rows of a batch with which the slowest worker is done soonest.

    Nobody goes without, if there are enough: stand-ins would take as long as rows of its own.
    """
    workers = range(len(paces))
    least = FEWEST_ROWS if count >= FEWEST_ROWS * len(paces) else 0
    low, high = 0.0, max(pace.of(count) for pace in paces)
    for _ in range(50):
        middle = (low + high) / 2
        enough = added_up(rows_within(middle, pace, least) for pace in paces) >= count
        low, high = (low, middle) if enough else (middle, high)
    rows = [math.floor(rows_within(low, pace, least)) for pace in paces]
    while added_up(rows) < count:
        rows[min(workers, key=lambda one: (paces[one].of(rows[one] + 1), one))] += 1
    while added_up(rows) > count:
        able = [one for one in workers if rows[one] > least]
        rows[max(able, key=lambda one: (paces[one].of(rows[one]), one))] -= 1
    return rows


def rows_within(seconds: float, pace: Pace, least: int) -> float:
    """How many rows a worker gets done in a time."""
    return max(float(least), (seconds - pace.fixed) / pace.each)


def step_time(rows: Sequence[int], paces: Sequence[Pace]) -> float:
    """What a step takes: as long as the slowest worker."""
    return max(pace.of(mine) for mine, pace in zip(rows, paces, strict=True))


def better_shares(
    shares: Sequence[float], count: int, paces: Sequence[Pace], damping: float
) -> tuple[float, ...] | None:
    """Shares nearer to the best ones for batches of so many rows; None if it is not worth it."""
    if any(pace.each <= 0 for pace in paces):
        return None
    now = row_counts(count, shares)
    best = best_rows(count, paces)
    if step_time(best, paces) > (1 - WORTH) * step_time(now, paces):
        return None
    part = count / added_up(shares)
    return tuple(
        share * part * (1 - damping) + goal * damping
        for share, goal in zip(shares, best, strict=True)
    )


class Balance:
    """Measures the steps of all loops that train, and moves the shares."""

    def __init__(self) -> None:
        self.steps = 0
        self._watch = Stopwatch()
        self._decided = False

    def tried(self, step: int) -> tuple[float, ...] | None:
        """The shares of a step in which it is found out what is fixed; None in all others."""
        if self._decided or not WARM_UP <= step < TRIED_UNTIL:
            return None
        doubled = (step - WARM_UP) // TRIED
        return tuple(2.0 if worker % 2 == doubled else 1.0 for worker in range(CREW.size))

    def note(self, rows: int, seconds: float, step: int) -> None:
        """A step has taken this worker so long."""
        if step >= WARM_UP:
            self._watch.note(rows, seconds, step < TRIED_UNTIL)

    def due(self) -> bool:
        """Whether workers tell each other in this step."""
        return self.steps >= TRIED_UNTIL and (self.steps - TRIED_UNTIL) % EXCHANGED_EVERY == 0

    def exchange(self, count: int, dealt: int) -> tuple[int, tuple[float, ...]] | None:
        """New shares, and the first batch of the pass that is dealt by them; None: all stays."""
        mine = torch.tensor([*self._watch.pace(), float(dealt)], dtype=torch.float64)
        told = [one.tolist() for one in TRANSPORT.gather(mine)]
        paces = [Pace(fixed, each) for fixed, each, _ in told]
        damping = DAMPING if self._decided else 1.0
        shares = better_shares(SHARES.of(CREW.size), count, paces, damping)
        self._decided = True
        if shares is None:
            return None
        SHARES.move(shares)
        return int(max(ahead for _, _, ahead in told)), shares


class Following:
    """The shares of one loop's batches, which may be dealt long before they are computed.

    Every worker has to deal the same batch by the same shares, however far ahead it is. So new ones
    count from a batch on that nobody has dealt yet.
    """

    def __init__(self) -> None:
        self._plan: Plan = []
        self._dealt = 0
        self._first = 0
        self._measured: tuple[int, float, float, int] | None = None

    def begin(self) -> None:
        """A pass begins."""
        self._plan, self._dealt, self._first = [], 0, BALANCE.steps
        self._measured = None

    def shares(self, may_move: bool) -> tuple[float, ...]:
        """The shares of the batch that is dealt now; those of a loop without training stay."""
        number = self._dealt
        self._dealt += 1
        if number == 0:
            self._plan.insert(0, (0, SHARES.of(CREW.size)))
        found = [shares for first, shares in self._plan if first <= number]
        tried = BALANCE.tried(self._first + number) if may_move and len(found) == 1 else None
        return tried or found[-1]

    def took(self, whole: int, rows: int) -> None:
        """The batch that is computed next has so many rows, and this worker so many of them."""
        if not torch.is_grad_enabled():
            self._measured = None
            return
        now, waited = time.perf_counter(), WAITING.spent
        if self._measured is not None:
            before, began, waited_before, step = self._measured
            BALANCE.note(before, now - began - (waited - waited_before), step)
        if BALANCE.due():
            found = BALANCE.exchange(whole, self._dealt)
            if found is not None:
                self._plan.append(found)
        self._measured = rows, time.perf_counter(), WAITING.spent, BALANCE.steps
        BALANCE.steps += 1


BALANCE = Balance()
