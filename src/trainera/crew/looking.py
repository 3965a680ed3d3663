"""Which steps of a loop over batches are looked at, and for what: see `stretching` and `trials`.

The first ones, always. But a script may do something else later, from the fifth epoch on or in the
last step of each, so some later steps are looked at again: the first and the last of a pass,
another one in between each time, and in a long pass those whose numbers are powers of two. What
that takes is measured, and kept to a small part of the time that the run takes.
"""

import sys
import time
from typing import Any

from trainera.crew.stretching import LOOKOUT
from trainera.crew.trials import TRIALS

FIRST_STEPS = 2
MOST_STEPS = 6
"""In a loop whose slices differ in size: another size may tell what the first could not."""

FREE_S = 1.0
MOST_OF_THE_TIME = 0.004
SCATTER = 7919
"""A prime: multiples of it are far apart in passes of any length."""


class Allowance:
    """How much time may be spent on looking again: a little, and then a part of all time."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.spent = 0.0

    def is_left(self) -> bool:
        return self.spent < FREE_S + MOST_OF_THE_TIME * (time.monotonic() - self.began)


class Place:
    """A loop of the program, all passes of which are followed."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        """The sizes of the slices that were looked at first."""
        self.passes = 0
        self.step = 0
        self.length = 0
        """Steps of the pass before."""

    def begin_pass(self) -> None:
        self.passes += 1
        self.length, self.step = self.step, 0

    def is_first_look(self, mine: int) -> bool:
        """Whether too few steps have been looked at so far, with slices of this size."""
        sizes = self.sizes
        return len(sizes) < FIRST_STEPS or (mine not in sizes and len(sizes) < MOST_STEPS)

    def is_due(self) -> bool:
        """Whether this step is one of those that are looked at again."""
        if self.length == 0:
            return self.step & (self.step - 1) == 0
        scattered = 1 + self.passes * SCATTER % self.length
        beyond = self.step > self.length and self.step & (self.step - 1) == 0
        return self.step in (1, self.length, scattered) or beyond


PLACES: dict[tuple[int, ...], Place] = {}
LOOKING, TRYING = Allowance(), Allowance()


class Look:
    """What one pass of a loop asks to be looked at."""

    def __init__(self) -> None:
        self._place: Place | None = None
        self._step = 0
        self._count = 0
        self._began = 0.0

    def begin(self, whole: int, mine: int) -> None:
        """A step of the loop begins, with `mine` rows of this worker's."""
        self.end()
        LOOKOUT.raise_found()
        if self._place is None:
            self._place = PLACES.setdefault(calling_place(), Place())
            self._place.begin_pass()
        place = self._place
        place.step += 1
        if not 1 < mine < whole:  # one row meets nobody; where nobody is missing, all is well
            return
        first, due = place.is_first_look(mine), place.is_due()
        if first or (due and LOOKING.is_left()):
            self._step, self._count = LOOKOUT.begin(), mine
            self._began = 0.0 if first else time.monotonic()
            if self._step and first:
                place.sizes.append(mine)
        if due and not first and TRYING.is_left():
            TRIALS.again(TRYING)

    def mark(self, batch: Any) -> Any:
        """The batch, or a part of it, as this worker's rows."""
        return LOOKOUT.marked(batch, self._count) if self._step else batch

    def end(self) -> None:
        """The step is over, and perhaps the loop."""
        if self._step:
            LOOKOUT.end(self._step)
            self._step = 0
            if self._began:  # the step itself is counted, too: it is not known what it would take
                LOOKING.spent += time.monotonic() - self._began


def calling_place() -> tuple[int, ...]:
    """Where in the program this is called: the instruction in every function that is running."""
    place: list[int] = []
    frame: Any = sys._getframe(1)
    while frame is not None and len(place) < 100:
        place += [id(frame.f_code), frame.f_lasti]
        frame = frame.f_back
    return tuple(place)
