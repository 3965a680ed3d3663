"""How long this worker has waited for others: the rest of its time it has worked."""

import time


class Waiting:
    """Counts the time inside of its `with` statements; one inside of another counts once."""

    def __init__(self) -> None:
        self.spent = 0.0
        self._depth = 0
        self._began = 0.0

    def __enter__(self) -> None:
        if not self._depth:
            self._began = time.perf_counter()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        if not self._depth:
            self.spent += time.perf_counter() - self._began


WAITING = Waiting()
