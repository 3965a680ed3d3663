"""The three collectives that the runtime is made of: the one place that asks an engine for them."""

import time
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from trainera.crew.state import CREW

SETTLE_S = 2.0
QUIET = 3


class TorchCollectives:
    """The collectives of torch.distributed."""

    def add_up(self, tensor: torch.Tensor) -> None:
        dist.all_reduce(tensor)

    def broadcast(self, tensor: torch.Tensor) -> None:
        dist.broadcast(tensor, 0)

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        received = [torch.empty_like(tensor) for _ in range(CREW.size)]
        dist.all_gather(received, tensor)
        return received


class Transport:
    """Moves tensors between workers."""

    def __init__(self) -> None:
        # Whoever joins the crew by another engine puts that engine's collectives here.
        self.by: Any = TorchCollectives()

    def add_up(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the sum of those of all workers."""
        CREW.require_all("a sum over the workers")
        self.by.add_up(tensor)

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the first worker's."""
        CREW.require_all("to tell the first worker's value")
        self.by.broadcast(tensor)

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The tensors, of one size, of all workers in their order."""
        CREW.require_all("a value of the whole batch, or of all workers,")
        received: list[torch.Tensor] = self.by.gather(tensor)
        return received


def settle() -> None:
    """Waits until gloo's own threads are at rest; to be called before the process ends.

    A moment after a collective is done they let go of what it moved, and need the interpreter for
    it. At exit it may be gone by then, which ends the process with an abort after good work; and
    whoever ends the group while it holds the interpreter waits for them for ever.
    """
    end = time.monotonic() + SETTLE_S
    quiet = 0
    while quiet < QUIET and time.monotonic() < end:
        time.sleep(0.002)  # whoever waits for the interpreter gets it now
        quiet = 0 if any(map(_is_busy, Path("/proc/self/task").glob("*"))) else quiet + 1


def _is_busy(thread: Path) -> bool:
    """Whether one of gloo's threads runs, or would if there were a core for it."""
    try:
        name, _, rest = (thread / "stat").read_text().partition("(")[2].rpartition(")")
    except OSError:  # it has just ended
        return False
    return name.startswith("pt_gloo") and rest.split()[0] == "R"


TRANSPORT = Transport()
