"""Who gets which rows of a batch."""

from typing import NamedTuple

from trainera.crew.rows import slice_bounds, uneven_bounds
from trainera.crew.state import CREW

UNEVEN_STEPS = 2


class Deal(NamedTuple):
    """This worker's rows of a batch."""

    start: int
    stop: int
    unequal: bool


class Dealer:
    """Deals the rows of one batch after another.

    In the first steps all workers get different numbers of rows: there it is seen which sizes
    follow the number of rows, and so what is drawn for the samples (see `layouts`). Every worker
    has to deal alike, some far ahead of others, so it is decided when a pass begins.
    """

    def __init__(self) -> None:
        self.uneven = UNEVEN_STEPS
        self.guesses = 0

    def begin(self, guesses: int) -> None:
        """A pass begins; after so many guesses, the latest of which are to be tried."""
        if guesses > self.guesses:
            self.guesses, self.uneven = guesses, UNEVEN_STEPS

    def deal(self, count: int, may_idle: bool = True) -> Deal:
        """The rows of the next batch."""
        size = CREW.size
        if self.uneven > 0 and CREW.exact:
            self.uneven -= 1
            bounds = [uneven_bounds(count, worker, size, may_idle) for worker in range(size)]
        else:
            bounds = [slice_bounds(count, worker, size) for worker in range(size)]
        start, stop = bounds[CREW.rank]
        return Deal(start, stop, len({stop - start for start, stop in bounds}) > 1)
