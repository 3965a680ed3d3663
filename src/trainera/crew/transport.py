"""The three collectives that the runtime is made of: the one place that asks torch for them."""

import time

import torch
import torch.distributed as dist

from trainera.crew.state import CREW

SETTLE_S = 0.5


class Transport:
    """Moves tensors between workers, and remembers which it moved last."""

    def __init__(self) -> None:
        self.last: list[torch.Tensor] = []

    def add_up(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the sum of those of all workers."""
        dist.all_reduce(tensor)
        self.last = [tensor]

    def broadcast(self, tensor: torch.Tensor) -> None:
        """Replaces the tensor by the first worker's."""
        dist.broadcast(tensor, 0)
        self.last = [tensor]

    def gather(self, tensor: torch.Tensor) -> list[torch.Tensor]:
        """The tensors, of one size, of all workers in their order."""
        received = [torch.empty_like(tensor) for _ in range(CREW.size)]
        dist.all_gather(received, tensor)
        self.last = [tensor, *received]
        return received

    def settle(self) -> None:
        """Waits until gloo's own threads have let go of the tensors that were moved last.

        They do so a moment after the collective is done, and need the interpreter for it. At
        exit it may be gone by then, which ends the process with an abort after good work.
        """
        end = time.monotonic() + SETTLE_S
        while any(map(users, self.last)) and time.monotonic() < end:
            time.sleep(0.001)
        self.last = []


def users(tensor: torch.Tensor) -> int:
    """How many use the tensor besides this one."""
    count: int = tensor._use_count()  # type: ignore[attr-defined]
    return count - 1


TRANSPORT = Transport()
