"""Who gets which rows of a batch."""

from typing import NamedTuple

from trainera.crew.balancing import Following
from trainera.crew.shares import SHARES, added_up, row_counts, rows_seen, told_apart
from trainera.crew.state import CREW

UNEVEN_STEPS = 2


class Deal(NamedTuple):
    """This worker's rows of a batch."""

    start: int
    stop: int
    unequal: bool
    """Whether the workers' scripts are given different numbers of rows."""
    some_idle: bool
    """Whether there is a worker without any row."""


class Dealer:
    """Deals the rows of one batch after another.

    In the first steps not all workers get the same number of rows: there it is seen which sizes
    follow the number of rows, and so what is drawn for the samples (see `layouts`). Every worker
    has to deal alike, some far ahead of others, so it is decided when a pass begins.
    """

    def __init__(self) -> None:
        self.uneven = UNEVEN_STEPS
        self.guesses = 0
        self._following = Following()
        self.all_work = False
        """Whether nobody may go without rows, because it would skip the step."""

    def begin(self, guesses: int) -> None:
        """A pass begins; after so many guesses (see `try_guesses`)."""
        self.try_guesses(guesses)
        self._following.begin()

    def try_guesses(self, guesses: int) -> None:
        """After so many guesses the latest are to be tried."""
        if guesses > self.guesses:
            self.guesses, self.uneven = guesses, UNEVEN_STEPS

    def deal(self, count: int, may_idle: bool = True) -> Deal:
        """The rows of the next batch; `may_idle` says how far the first steps may go."""
        shares = SHARES.of(CREW.size)
        if SHARES.auto:
            shares = self._following.shares(may_move=not self.all_work)
        counts = row_counts(count, shares, self.all_work)
        if self.uneven > 0 and CREW.exact:
            self.uneven -= 1
            counts = told_apart(counts, may_idle)
        start = added_up(counts[: CREW.rank])
        unequal = len(set(rows_seen(counts))) > 1
        return Deal(start, start + counts[CREW.rank], unequal, 0 in counts)

    def took(self, whole: int, rows: int) -> None:
        """The script is about to compute a batch, of which this worker is given so many rows.

        Not where some workers skip batches: what is measured there the others would not hear.
        """
        if SHARES.auto and not self.all_work:
            self._following.took(whole, rows)
