"""Batches that the script's own code gives one after another: a generator, a table in parts.

Every worker makes the whole batch, from the random numbers that all share, and takes its rows.
"""

from collections.abc import Iterator
from typing import Any

import torch

from trainera.crew.layouts import LAYOUTS
from trainera.crew.passes import Pass
from trainera.crew.rows import Cutter, arrays_in, check_made_of_rows, is_array
from trainera.crew.sharing import Shared
from trainera.crew.state import CREW, StepValues
from trainera.crew.streams import STREAMS


class OwnBatches(Shared):
    """An iterable of batches, each of which is shared; all else is as what it was made of."""

    _weighs_nothing_yet = True
    _tries = True

    def __init__(self, batches: Any, skip_empty: bool, watch_lists: bool) -> None:
        for name in (*vars(Shared), *vars(StepValues), *vars(StepValues())):
            if not name.startswith("_") and hasattr(batches, name):
                raise TypeError(
                    f"cannot share the batches of a {type(batches).__name__}: its attribute "
                    f"{name!r} would be hidden by that of what shares them; give it another name"
                )
        super().__init__()
        self._batches = batches
        self._skip_empty = self._dealer.all_work = skip_empty
        self._watches_lists = watch_lists
        self._cutter = BatchCutter()
        self._pass: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if CREW.size == 1:
            CREW.last = self
            return iter(self._batches)
        if self._pass is not None:  # a generator goes on where next() left it
            return self._pass
        STREAMS.synchronise()
        self._dealer.begin(LAYOUTS.guesses)
        held_own = STREAMS.to_shared()
        try:
            batches = iter(self._batches)
        finally:
            STREAMS.back(held_own)
        return Pass(
            self, batches, None, self._cutter, self._stand_in, self._skip_empty, self._dealer
        )

    def __next__(self) -> Any:
        if CREW.size == 1:
            CREW.last = self
            return next(self._batches)
        if self._pass is None:
            self._pass = iter(self)
        return next(self._pass)

    def __len__(self) -> int:
        return len(self._batches)

    def __getattr__(self, name: str) -> Any:
        if name == "_batches":  # asked for by copy and pickle before there is one
            raise AttributeError(name)
        return getattr(self._batches, name)

    def __repr__(self) -> str:
        return repr(self._batches)

    @property  # type: ignore[misc]
    def __class__(self) -> type:  # for isinstance
        return type(self._batches)

    def __setattr__(self, name: str, value: Any) -> None:
        """What the script sets is for the object that it made."""
        if name in vars(self) or "_pass" not in vars(self):
            object.__setattr__(self, name, value)
        else:
            setattr(self._batches, name, value)

    def _pass_ended(self) -> None:
        super()._pass_ended()
        self._cutter.check_unchanged()


class RowCutter(Cutter):
    """Cuts what is made of rows alone, and sees whether they stay what they are."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[tuple[torch.Tensor, int]] = []
        """Batches that are parts of a table, and how often that had been changed."""

    def cut(self, batch: Any, count: int, start: int, stop: int) -> Any:
        check_made_of_rows(batch)
        self._parts += [
            (one, one._version)
            for one in arrays_in(batch)
            if isinstance(one, torch.Tensor) and one._is_view() and not one.is_inference()
        ]
        return super().cut(batch, count, start, stop)

    def check_unchanged(self) -> None:
        """Raises if the script has changed a table through the batches that were cut from it."""
        parts, self._parts = self._parts, []
        if any(one._version != version for one, version in parts):
            raise RuntimeError(
                "trainera: a batch that is a part of a table is changed in place, and so is the "
                "table; each worker would change other rows of it: change a clone() of the batch"
            )

    def _cut_sequence(self, value: Any, count: int, rows: slice, place: str) -> Any:
        if any(map(is_array, value)):  # tables side by side, however many rows they have
            self.kinds[place] = "fields"
        return super()._cut_sequence(value, count, rows, place)


class BatchCutter(RowCutter):
    """Cuts one batch after another."""

    def cut(self, batch: Any, count: int, start: int, stop: int) -> Any:
        self.check_unchanged()
        return super().cut(batch, count, start, stop)
