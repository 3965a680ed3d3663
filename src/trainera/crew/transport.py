"""The three collectives that the runtime is made of: the one place that asks an engine for them."""

import time
from typing import Any

import torch
import torch.distributed as dist

from trainera.crew.state import CREW

SETTLE_S = 0.5


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
    """Moves tensors between workers, and remembers which it moved last."""

    def __init__(self) -> None:
        # Whoever joins the crew by another engine puts that engine's collectives here.
        self.by: Any = TorchCollectives()
        self.last: list[torch.Tensor] = []

    def add_up(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the sum of those of all workers."""
        self.by.add_up(tensor)
        self.last = [tensor]

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the first worker's."""
        self.by.broadcast(tensor)
        self.last = [tensor]

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The tensors, of one size, of all workers in their order."""
        received: list[torch.Tensor] = self.by.gather(tensor)
        self.last = [tensor, *received]
        return received

    def settle(self) -> None:
        """Waits for what was moved last; to be called before the process ends."""
        settle(self.last)
        self.last = []


def settle(moved: list[torch.Tensor]) -> None:
    """Waits until gloo's own threads have let go of the tensors that were moved.

    They do so a moment after the collective is done, and need the interpreter for it. At
    exit it may be gone by then, which ends the process with an abort after good work.
    """
    end = time.monotonic() + SETTLE_S
    while any(map(users, moved)) and time.monotonic() < end:
        time.sleep(0.001)


def users(tensor: torch.Tensor) -> int:
    """How many use the tensor besides this one."""
    count: int = tensor._use_count()  # type: ignore[attr-defined]
    return count - 1


TRANSPORT = Transport()
