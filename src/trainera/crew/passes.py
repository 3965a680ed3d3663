"""One pass over a split loader."""

import contextlib
import opcode
import sys
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any
from weakref import WeakSet

from trainera.crew.dealing import Dealer
from trainera.crew.joined_rows import JOINED_ROWS
from trainera.crew.lists import watched
from trainera.crew.looking import Look
from trainera.crew.rows import Cutter, duplicate, row_count
from trainera.crew.sameness import COMPARED_STEPS, same_for_all
from trainera.crew.sampling import Planned, SliceSampler
from trainera.crew.state import CREW, Step, StepValues
from trainera.crew.streams import STREAMS

FOR_ITER = opcode.opmap.get("FOR_ITER")
NOTHING = object()


OPENED: "WeakSet[Pass]" = WeakSet()
"""The passes that have a body open."""


def pause_passes() -> None:
    """The loop around all of them is over; they may be asked for more batches later."""
    for one in list(OPENED):
        one.pause()


class StandIn:
    """Rows that an idle worker computes with, at weight 0, so that it can take part."""

    def __init__(self) -> None:
        self.row: Any = None
        self.kept = False

    def keep(self, batch: Any, count: int) -> None:
        """Keeps two rows of the first batch. Not of the last: the script may have changed that."""
        self.kept = True
        # If it cannot be told which row is which, the whole batch stands in.
        with contextlib.suppress(ValueError):
            batch = Cutter().cut(batch, count, 0, min(2, count))
        self.row = duplicate(batch)

    def get(self) -> Any:
        """The row in containers of its own, which the script may take apart."""
        return duplicate(self.row)


class Pass:
    """The iterator that a loop steps. It yields this worker's slices in the sequential order."""

    def __init__(
        self,
        values: StepValues,
        steps: Iterator[Any],
        sampler: SliceSampler | None,
        cutter: Cutter | None,
        stand_in: StandIn,
        skip_empty: bool,
        dealer: Dealer,
    ) -> None:
        self._values = values
        self._steps = steps
        self._sampler = sampler
        self._plan: deque[Planned] = sampler.plan if sampler is not None else deque()
        self._cutter = cutter
        self._stand_in = stand_in
        self._skip_empty = skip_empty
        self._dealer = dealer
        self._held: Any = NOTHING
        self._exhausted = False
        self._count = 0
        self._read = 0
        self._first = 0
        self._opened = False
        self._closed = False
        self._look = Look()

    def __iter__(self) -> "Pass":
        return self

    def __next__(self) -> Any:
        if self._closed:
            raise StopIteration
        if not self._opened:
            self._open(sys._getframe(1))
        self._count += 1
        self._look.end()
        try:
            while True:
                step, batch = self._advance()
                CREW.order = hash((CREW.order, step.whole, step.order))
                if step.mine or not self._skip_empty:
                    break
        except BaseException:
            self.close()
            raise
        if self._count == 1:
            self._first = step.whole
        elif self._first < CREW.size:
            self._values.too_few = self._first  # and it was not the last, ragged batch
        self._values.begun += 1
        here = step.mine or self._rows_of_stand_in(batch, step)
        self._dealer.took(step.whole, here)
        CREW.stepped(
            id(self),
            Step(
                *(self._values, step.whole, step.mine, step.start, here),
                *(step.unequal, step.some_idle),
            ),
        )
        JOINED_ROWS.begin()
        if self._opened:
            self._look.begin(step.whole, step.mine)
        if self._values._watches_lists:
            batch = watched(batch)
        return self._look.mark(batch)

    def _open(self, caller: Any) -> None:
        """From here on torch draws for this worker's rows, in the body of the loop.

        With a stream of its own for that (`--random own`), a loop has a body, and a single
        `next(iterator)` has none: scripts use it to look at a batch before they build the model,
        which must not be drawn from this worker's own stream. So a pass that is stepped by hand is
        a loop only from its second step. If all draw from one stream, it makes no difference.
        """
        if not CREW.exact and caller.f_code.co_code[caller.f_lasti] != FOR_ITER:
            if self._count == 0:
                return
            if STREAMS.bodies == 0:
                STREAMS.synchronise()  # the first step may have drawn unequally
        self._opened = True
        OPENED.add(self)
        STREAMS.open_body()

    def _advance(self) -> tuple[Planned, Any]:
        if self._cutter is not None:
            return self._advance_whole(self._cutter)
        plan = self._plan
        if not self._exhausted and self._held is NOTHING and (not plan or plan[0].fetched):
            self._held = self._pull()
        if not plan:
            raise StopIteration
        step = plan.popleft()
        if not step.fetched:
            return step, self._stand_in.get() if not self._skip_empty else None
        batch, self._held = self._held, NOTHING
        if not self._stand_in.kept and not self._skip_empty:
            self._stand_in.keep(batch, step.mine or min(2, step.whole))
        return step, batch

    def _pull(self) -> Any:
        """The next batch of the loader, or NOTHING at its end."""
        try:
            return next(self._steps)
        except StopIteration:
            self._exhausted = True
            return NOTHING
        finally:
            STREAMS.leave_fetch()

    def _pull_shared(self) -> Any:
        """The same where every worker reads whole batches: what it draws must agree."""
        held_own = STREAMS.to_shared()
        try:
            return self._pull()
        finally:
            STREAMS.back(held_own)

    def _advance_whole(self, cutter: Cutter) -> tuple[Planned, Any]:
        batch, self._held = self._held, NOTHING
        if batch is NOTHING and not self._exhausted:
            batch = self._pull_shared()
        if batch is NOTHING:
            raise StopIteration
        if self._plan:
            count, order = self._plan[0].whole, self._plan[0].order
            self._plan.popleft()
        else:
            found = row_count(batch)
            if found is None:
                raise ValueError(
                    f"cannot share a batch among workers: no tensor is found in a "
                    f"{type(batch).__name__}, so it is not known how many samples it has"
                )
            count, order = found, 0
            self._read += 1  # not the steps: some workers skip some
            if self._read in COMPARED_STEPS:
                same_for_all(batch)
        start, stop, unequal, some_idle = self._dealer.deal(count, not self._skip_empty)
        step = Planned(count, stop - start, True, order, start, unequal, some_idle)
        if stop > start:
            return step, cutter.cut(batch, count, start, stop)
        return step, None if self._skip_empty else cutter.cut(batch, count, 0, min(2, count))

    def _rows_of_stand_in(self, batch: Any, step: Planned) -> int:
        if not step.fetched:
            batch = self._stand_in.row
        return row_count(batch) or min(2, step.whole)

    def pause(self) -> None:
        """Ends the body, as of a loop, but not the pass."""
        self._look.end()
        OPENED.discard(self)
        if self._opened and not self._closed:
            self._opened = False
            STREAMS.close_body()

    def close(self) -> None:
        """Ends the pass: the streams of random numbers are as if its body had drawn nothing."""
        if self._closed:
            return
        self._closed = True
        self._look.end()
        CREW.ended(id(self))
        JOINED_ROWS.go_on()
        self._values._pass_ended()
        if self._opened:
            STREAMS.close_body()

    def __del__(self, finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not finalizing():
            self.close()
