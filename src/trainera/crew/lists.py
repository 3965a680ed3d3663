"""Lists among the fields of a batch: what `+` and `*` make of a slice is no slice of the whole.

``x * 2`` doubles a tensor, row by row, and repeats a list, one copy behind the other. Which of them
a field is, a script does not show. So where it is taken for a tensor, a list ends the run.
"""

import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from trainera.crew.state import CREW, REFUSED


def stop(*_: object) -> NoReturn:
    """Ends the run, on every worker: each of them gets there with its slice."""
    caller = sys._getframe(1)
    if CREW.rank == 0:
        print(
            f"trainera: {caller.f_code.co_filename}:{caller.f_lineno}: a list that came with the "
            "batch is joined or repeated here; each worker has a slice of it only, and the slices' "
            "results are no slices of the whole batch's. Make a list of your own first: list(x)",
            file=sys.stderr,
            flush=True,
        )
    raise SystemExit(REFUSED)


class WatchedList(list[Any]):
    """A worker's part of a list."""

    __add__ = __radd__ = __iadd__ = __mul__ = __rmul__ = __imul__ = stop


class WatchedTuple(tuple[Any, ...]):
    """A worker's part of a tuple."""

    __add__ = __radd__ = __mul__ = __rmul__ = stop


def watched(batch: Any) -> Any:
    """The batch with its lists and tuples in a form that cannot be joined or repeated."""
    if type(batch) is list:
        return WatchedList(map(watched, batch))
    if type(batch) is tuple:
        return WatchedTuple(map(watched, batch))
    if type(batch) is dict:
        return {key: watched(value) for key, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(watched, batch))
    if isinstance(batch, Mapping) and hasattr(batch, "data") and type(batch.data) is dict:
        batch.data.update({key: watched(value) for key, value in batch.data.items()})
    return batch
