"""Lets a script that was distributed by hand leave without an abort that is not its fault."""

import functools
from collections import deque
from typing import Any

from trainera.crew.transport import settle
from trainera.verify.observe.record import put

MOVING = (
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "send",
)


class Leaving:
    """Holds on to what the script's own collectives moved last, and waits at the end.

    gloo's threads need the interpreter to let go of the last reference to a tensor. They may end a
    process that leaves too early, or wait for it while it waits for them; now and then, after good
    work. That would be called a difference, and not found again in the next run.
    """

    def __init__(self) -> None:
        self._last: deque[Any] = deque(maxlen=8)

    def install(self) -> None:
        """Hooks into the collectives, also where torch's own functions call them."""
        import torch.distributed as dist

        if not dist.is_available():
            return
        for name in MOVING:
            hook = self._kept(getattr(dist, name))
            put(dist, name, hook)
            put(dist.distributed_c10d, name, hook)

    def end(self) -> None:
        """Waits, at most for a moment; what is held is held until the process is gone."""
        settle()

    def _kept(self, original: Any) -> Any:
        import torch

        @functools.wraps(original)
        def collective(*args: Any, **options: Any) -> Any:
            for value in (*args, *options.values()):
                several = value if isinstance(value, list | tuple) else [value]
                self._last.extend(one for one in several if isinstance(one, torch.Tensor))
            return original(*args, **options)

        return collective
