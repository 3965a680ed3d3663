"""What only one worker does, or one after the other.

A function that only one worker runs may ask for the same again, further in: then nobody waits any
more. What it asks for that needs all workers cannot be had there, and is refused by a message
(`Crew.require_all`) where it would wait for ever.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

import torch

from trainera.crew.raising import as_sent, raise_sent
from trainera.crew.state import CREW
from trainera.crew.streams import STREAMS, RandomNumbers
from trainera.crew.transport import TRANSPORT
from trainera.crew.wire import broadcast_object, gather_objects

Result = TypeVar("Result")
Value = TypeVar("Value")


class Nobody:
    """Stands for a file, a writer or a figure that only the first worker has: it does nothing."""

    def __getattr__(self, name: str) -> "Nobody":
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        pass

    def __call__(self, *args: Any, **kwargs: Any) -> "Nobody":
        return self

    def __enter__(self) -> "Nobody":
        return self

    def __exit__(self, *error: Any) -> None:
        pass

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __next__(self) -> NoReturn:
        raise StopIteration

    def __len__(self) -> int:
        return 0

    def __bool__(self) -> bool:
        return False

    def __contains__(self, item: Any) -> bool:
        return False

    def __lt__(self, other: Any) -> bool:  # a logging handler is asked for its level
        return False

    __le__ = __gt__ = __ge__ = __lt__

    def __getitem__(self, key: Any) -> "Nobody":
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __delitem__(self, key: Any) -> None:
        pass


@contextlib.contextmanager
def apart(function: Any, caller: Any, alone: bool) -> Iterator[None]:
    """The time in which this worker calls a function while the others wait until it is done."""
    name = getattr(function, "__qualname__", type(function).__name__)
    place = f"{caller.f_code.co_filename}:{caller.f_lineno}"
    before = CREW.apart, CREW.alone
    CREW.apart, CREW.alone = f"{name}() in {place}", alone
    try:
        yield
    finally:
        CREW.apart, CREW.alone = before


def once(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls the function on the first worker; the others wait until it is done.

    They get a Nobody, which takes any call. If the function raises an exception, all workers do,
    because the script may expect it. It waits for the others, too: they may still be reading the
    file that is written over or removed.
    """
    if CREW.trying:
        return Nobody()
    if CREW.size == 1 or CREW.alone:
        return function(*args, **kwargs)
    caller = sys._getframe(1)
    if CREW.apart:  # in turn, so that those who get here later need not wait
        if CREW.rank > 0:
            return Nobody()
        with apart(function, caller, alone=True):
            return function(*args, **kwargs)
    TRANSPORT.add_up(torch.zeros(1))
    if CREW.rank > 0:
        outcome = broadcast_object(None)
        if isinstance(outcome, tuple):
            raise_sent(outcome, "the first worker")
        if isinstance(outcome, dict):  # it drew random numbers, as the sequential script does
            numbers = RandomNumbers()
            vars(numbers).update(outcome)
            numbers.put_back()
        return Nobody()
    numbers = RandomNumbers()
    try:
        with apart(function, caller, alone=True):
            result = function(*args, **kwargs)
    except BaseException as error:
        broadcast_object(as_sent(error))
        raise
    shared = CREW.exact or not STREAMS.holds_own
    broadcast_object(vars(RandomNumbers()) if shared and numbers.moved() else None)
    return result


def in_turn(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Calls the function on every worker, first on the first of each machine.

    For what looks whether a file is there and makes it if not, as a download does.
    """
    if CREW.size == 1 or CREW.apart:
        return function(*args, **kwargs)
    caller = sys._getframe(1)
    if CREW.local_rank > 0:
        _raise_any(gather_objects(None))
        with apart(function, caller, alone=False):
            return function(*args, **kwargs)
    try:
        with apart(function, caller, alone=False):
            result = function(*args, **kwargs)
    except BaseException as error:
        gather_objects(as_sent(error))
        raise
    _raise_any(gather_objects(None))
    return result


def _raise_any(sent: list[Any]) -> None:
    """Raises what the first worker of a machine has raised, if one has."""
    for rank, error in enumerate(sent):
        if error is not None:
            raise_sent(error, f"worker {rank}" if rank else "the first worker")


def agree(value: Value) -> Value:
    """The first worker's value, on every worker; for what depends on a clock or a file."""
    if CREW.size == 1 or CREW.alone:
        return value
    if isinstance(value, torch.Tensor):
        received: Any = broadcast_object(value.detach().cpu())
        return received.to(value.device)  # type: ignore[no-any-return]
    if isinstance(value, Iterator):  # it cannot be sent, but what it gives can
        items: Any = iter(broadcast_object(list(value)))
        return items  # type: ignore[no-any-return]
    result: Value = broadcast_object(value)
    return result
