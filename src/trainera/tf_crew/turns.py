"""What only the first worker does, while the others wait until it is done."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from trainera.tf_crew.sameness import compare_workers
from trainera.tf_crew.state import CREW


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


@contextlib.contextmanager
def apart(function: Any, caller: Any) -> Iterator[None]:
    """The time in which this worker does something while the others wait."""
    name = getattr(function, "__qualname__", type(function).__name__)
    CREW.here.apart = f"{name}() in {caller.f_code.co_filename}:{caller.f_lineno}"
    try:
        yield
    finally:
        CREW.here.apart = ""


def once(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls the function on the first worker; the others wait until it is done.

    They get a Nobody, which takes any call. If the function fails, all workers fail, by the same
    exception where it can be sent. It waits for the others, too: they may still be reading the file
    that is written over or removed.
    """
    if CREW.here.trying is not None:
        return Nobody()
    if CREW.size == 1 or CREW.here.apart or hasattr(function, "by_first_worker"):
        # Within what only the first one does; or the function sees to that itself.
        return function(*args, **kwargs)
    compare_workers()  # waits for the others, too
    if CREW.rank > 0:
        outcome = CREW.exchange.told_by_first(None)
        if outcome is not None:
            raise outcome
        return Nobody()
    try:
        with apart(function, sys._getframe(1)):
            result = function(*args, **kwargs)
    except BaseException as error:
        CREW.exchange.told_by_first(as_sent(error))
        raise
    CREW.exchange.told_by_first(None)
    return result


def in_turn(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls the function on every worker, first on the first one.

    For what looks whether a file is there and makes it if not, as a download does.
    """
    if CREW.size == 1 or CREW.here.apart or CREW.here.trying is not None:
        return function(*args, **kwargs)
    if CREW.rank > 0:
        outcome = CREW.exchange.told_by_first(None)
        if outcome is not None:
            raise outcome
        return function(*args, **kwargs)
    try:
        with apart(function, sys._getframe(1)):
            result = function(*args, **kwargs)
    except BaseException as error:
        CREW.exchange.told_by_first(as_sent(error))
        raise
    CREW.exchange.told_by_first(None)
    return result


def agree(value: Any) -> Any:
    """The first worker's value, on every worker; for what depends on a clock or a file."""
    if CREW.size == 1 or CREW.here.apart or CREW.here.trying is not None:
        return value
    return CREW.exchange.told_by_first(value)


def as_sent(error: BaseException) -> BaseException:
    """An exception that can be sent: a script may expect its type."""
    if isinstance(error, SystemExit):
        return SystemExit(error.code)
    if isinstance(error, OSError) and error.errno is not None:
        return type(error)(error.errno, error.strerror)
    text = f"the first worker failed: {type(error).__name__}: {error}"
    with contextlib.suppress(Exception):
        if type(error).__module__ == "builtins":
            return type(error)(text)
    return RuntimeError(text)
