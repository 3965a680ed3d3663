"""Batches that a script makes by hand, in a loop that is none over a loader.

Every worker goes through the loop and makes the whole batch, as the sequential script does; then it
cuts out its own rows. Up to that point all draw from the shared stream of random numbers, so that
they make the same batch; from there to the end of the round each draws from its own, as in the body
of a loop over a loader.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from trainera.crew.joined_rows import JOINED_ROWS
from trainera.crew.layouts import LAYOUTS
from trainera.crew.lists import watched
from trainera.crew.looking import Look
from trainera.crew.own_batches import RowCutter
from trainera.crew.passes import pause_passes
from trainera.crew.rows import row_count
from trainera.crew.sameness import COMPARED_STEPS, digests, same_for_all
from trainera.crew.sharing import Shared
from trainera.crew.state import CREW, Step
from trainera.crew.streams import STREAMS
from trainera.crew.turns import agree

RUNNING: list["Steps"] = []
"""The loops that have begun and not ended, innermost last."""


def steps(rounds: Iterable[Any]) -> "Steps":
    """The rounds of a loop in which the script makes a batch and cuts it (see `cut`)."""
    return Steps(rounds)


def next_step(goes_on: Any) -> Any:
    """Whether a `while` loop goes on, which asks so before each round: its `steps`."""
    if CREW.size == 1:
        CREW.last = CREW.last if isinstance(CREW.last, Steps) else Steps(())
        return goes_on
    caller = sys._getframe(1)
    asking = (id(caller), caller.f_lineno)  # not f_lasti: a condition is compiled twice
    running = next((one for one in RUNNING if one._asking == asking), None)
    if running is None:
        running = Steps(())
        running._asking = asking
        running._begin()
    running._cutter.check_unchanged()
    running._end_round()
    if not goes_on:
        running._end()
    return goes_on


def end_steps() -> None:
    """The loop before this is over, which may not have heard so when it asked for more."""
    pause_passes()
    caller = id(sys._getframe(1))
    for running in [one for one in RUNNING if one._asking[0] == caller]:
        running._end()


def drawn(draw: Callable[[], Any]) -> Any:
    """What is drawn for all workers after a cut, from the random numbers that they share."""
    held_own = STREAMS.to_shared()
    try:
        return agree(draw())
    finally:
        STREAMS.back(held_own)


def cut(batch: Any) -> Any:
    """This worker's rows of a batch that every worker has made as a whole."""
    if CREW.size == 1:
        return batch
    if not RUNNING:
        raise RuntimeError("crew.cut() is for the rounds of a loop over crew.steps()")
    return RUNNING[-1]._cut(batch)


class Steps(Shared):
    """A loop over anything, each round of which trains on one batch."""

    _weighs_nothing_yet = True
    _tries = True
    made = 0
    """Batches of all such loops: an inner one may begin anew with every step."""

    def __init__(self, rounds: Iterable[Any]) -> None:
        super().__init__()
        self._rounds = rounds
        self._cutter = RowCutter()
        self._has_batch = False
        self._asking = (0, 0)
        self._look = Look()

    def __iter__(self) -> Iterator[Any]:
        if CREW.size == 1:
            CREW.last = self
            return iter(self._rounds)
        return Rounds(self, iter(self._rounds))

    def _begin(self) -> None:
        STREAMS.synchronise()
        self._dealer.begin(LAYOUTS.guesses)
        self._look = Look()
        RUNNING.append(self)
        STREAMS.open_body()

    def _cut(self, batch: Any) -> Any:
        if not self._has_batch:
            self._begin_batch(batch)
        if Steps.made in COMPARED_STEPS:
            CREW.order = hash((CREW.order, *digests(batch)))
        whole, mine = self._step
        start, stop = self._start, self._start + mine
        if not mine:  # it takes part at weight 0, because the others wait for it
            start, stop = 0, min(2, whole)
        return self._look.mark(watched(self._cutter.cut(batch, whole, start, stop)))

    def _begin_batch(self, batch: Any) -> None:
        whole = row_count(batch)
        if not whole:
            raise ValueError(
                f"cannot share a batch among workers: no rows are found in a {type(batch).__name__}"
            )
        self._dealer.try_guesses(LAYOUTS.guesses)
        start, stop, unequal, some_idle = self._dealer.deal(whole)
        mine = stop - start
        self.begun += 1
        Steps.made += 1
        if self.begun == 1 and whole < CREW.size:
            self.too_few = whole
        if Steps.made in COMPARED_STEPS:
            same_for_all(batch)
        self._has_batch = True
        here = mine or min(2, whole)
        self._dealer.took(whole, here)
        CREW.stepped(id(self), Step(self, whole, mine, start, here, unequal, some_idle))
        JOINED_ROWS.begin()
        self._look.begin(whole, mine)
        if not STREAMS.holds_own:
            STREAMS.to_own()

    def _end_round(self) -> None:
        self._look.end()
        self._has_batch = False
        CREW.ended(id(self))
        JOINED_ROWS.go_on()
        STREAMS.to_shared()

    def _end(self) -> None:
        """What was drawn after the cuts has not moved the shared stream."""
        RUNNING[:] = [one for one in RUNNING if one is not self]
        self._end_round()
        STREAMS.to_own()
        STREAMS.close_body()
        if RUNNING and not RUNNING[-1]._has_batch:
            STREAMS.to_shared()
        self._pass_ended()


class Rounds:
    """The iterator that a `for` loop steps."""

    def __init__(self, values: Steps, rounds: Iterator[Any]) -> None:
        self._values = values
        self._rounds = rounds
        self._opened = False
        self._closed = False

    def __iter__(self) -> "Rounds":
        return self

    def __next__(self) -> Any:
        if self._closed:
            raise StopIteration
        if not self._opened:
            self._opened = True
            self._values._begin()
        self._values._cutter.check_unchanged()
        self._values._end_round()
        try:
            return next(self._rounds)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Ends the loop; if it is left by `break`, when nothing holds this any more."""
        if self._opened and not self._closed:
            self._values._end()
        self._closed = True

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            self.close()
