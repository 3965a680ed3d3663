"""What the runtime knows: the devices, and whether this thread is within a part of a batch."""

import contextlib
import threading
from collections.abc import Iterator


class Standing(threading.local):
    """Where this thread stands."""

    def __init__(self) -> None:
        # Whether all that is called now computes what it is given, and shares out nothing.
        self.whole = False


class Devices:
    """The state of this process. One object instead of globals, so that it can be bundled."""

    def __init__(self) -> None:
        self.joined = False
        self.names: list[str] = []
        self.here = Standing()


CREW = Devices()


@contextlib.contextmanager
def computing_whole() -> Iterator[None]:
    """The time in which layers compute all rows that they are given, where they stand."""
    before, CREW.here.whole = CREW.here.whole, True
    try:
        yield
    finally:
        CREW.here.whole = before
