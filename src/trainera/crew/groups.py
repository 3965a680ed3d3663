"""Process groups for torch.distributed beside gloo and nccl: of a world of one, and of a machine.

DDP and everything else of torch use them as they would use gloo.
"""

import os
from datetime import timedelta
from functools import reduce
from typing import Any

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as native

from trainera.crew.memory import SharedCollectives, open_memory
from trainera.crew.shares import AUTO, SHARES_VARIABLE
from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT
from trainera.crew.waiting import WAITING

BUCKET_BYTES = 25 << 20  # as DDP's other buckets


def start_alone(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """The form in which torch wants the constructor of a backend."""
    return Alone(rank, size)  # type: ignore[call-arg]


def start_machine(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """A group through shared memory; through gloo if the workers cannot share any."""
    memory = open_memory(store, rank, size, timeout)
    if memory is None:
        return start_timed(store, rank, size, timeout)
    group = Machine(rank, size)  # type: ignore[call-arg]
    group.by = SharedCollectives(memory)
    TRANSPORT.by = group.by
    # DDP sends the first gradients early, to send while it computes. Here nobody else could send
    # them, and every message is one more moment at which workers wait for each other.
    dist._DEFAULT_FIRST_BUCKET_BYTES = BUCKET_BYTES  # type: ignore[attr-defined]
    return group


def start_timed(store: Any, rank: int, size: int, timeout: timedelta) -> Any:
    """Gloo; so that it is known how long a worker waits, if shares follow that."""
    gloo = dist.ProcessGroupGloo(store, rank, size, timeout=timeout)
    if os.environ.get(SHARES_VARIABLE) != AUTO:
        return gloo
    group = Timed(rank, size)  # type: ignore[call-arg]
    group.gloo = gloo
    return group


class Alone(dist.ProcessGroup):
    """The process group of a world of one, where every collective is done before it begins.

    Gloo would open a listening port even for a single process.
    """

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        return finished_work(tensors)

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        return finished_work(tensors)

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        return finished_work(tensors)

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        for output, tensor in zip(outputs, inputs, strict=True):
            output[0].copy_(tensor)
        return finished_work(outputs)

    def barrier(self, opts: Any = None) -> Any:
        return finished_work([])

    def getBackendName(self) -> str:  # torch gives this name
        return "alone"


class Machine(dist.ProcessGroup):
    """The process group of workers on the CPUs of one machine, through memory that they share."""

    by: SharedCollectives

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        if opts is not None and opts.reduceOp != dist.ReduceOp.SUM:
            raise NotImplementedError(f"only sums over workers, not {opts.reduceOp}")
        CREW.require_all("backward(), or another sum over the workers,")
        for tensor in tensors:
            if tensor.is_sparse:
                self._add_up_sparse(tensor)
            else:
                self.by.add_up(tensor)
        return finished_work(tensors)

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        for tensor in tensors:
            self.by.broadcast(tensor, 0 if opts is None else opts.rootRank)
        return finished_work(tensors)

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        for output, tensor in zip(outputs, inputs, strict=True):
            for place, value in zip(output, self.by.gather(tensor), strict=True):
                place.copy_(value)
        return finished_work(outputs)

    def barrier(self, opts: Any = None) -> Any:
        self.by.meet()
        return finished_work([])

    def getBackendName(self) -> str:  # torch gives this name
        return "machine"

    @torch.no_grad()
    def _add_up_sparse(self, tensor: torch.Tensor) -> None:
        """The gradient of an embedding that has but the rows in use: those of all workers."""
        mine = tensor.coalesce()
        if CREW.last is not None and not CREW.last.active:
            # Of stand-ins, whose gradients are 0: rows that the sequential script does not use.
            rows = mine.values().flatten(1).any(1)
            mine = torch.sparse_coo_tensor(
                mine.indices()[:, rows], mine.values()[rows], tensor.shape, check_invariants=False
            ).coalesce()
        counts = [int(count) for count in self.by.gather(torch.tensor([mine.values().shape[0]]))]
        parts = zip(
            self._gather_rows(mine.indices().T, max(counts)),
            self._gather_rows(mine.values(), max(counts)),
            counts,
            strict=True,
        )
        found = [
            torch.sparse_coo_tensor(
                rows[:count].T, values[:count], tensor.shape, check_invariants=False
            )
            for rows, values, count in parts
        ]
        tensor.copy_(reduce(torch.add, found).coalesce())

    def _gather_rows(self, mine: torch.Tensor, most: int) -> list[torch.Tensor]:
        room = mine.new_zeros((most, *mine.shape[1:]))
        room[: len(mine)] = mine
        return self.by.gather(room)


class Timed(dist.ProcessGroup):
    """Gloo, waited for at once: what goes on beside the computing is not seen to be waiting."""

    gloo: Any

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        return self._done(self.gloo.allreduce, tensors, opts or dist.AllreduceOptions())

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        return self._done(
            self.gloo.allreduce_coalesced, tensors, opts or dist.AllreduceCoalescedOptions()
        )

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:  # type: ignore[override]
        return self._done(self.gloo.broadcast, tensors, opts or dist.BroadcastOptions())

    def allgather(self, outputs: Any, inputs: Any, opts: Any = None) -> Any:
        with WAITING:
            self.gloo.allgather(outputs, inputs, opts or native.AllgatherOptions()).wait()
        return finished_work(outputs)

    def barrier(self, opts: Any = None) -> Any:
        with WAITING:
            self.gloo.barrier(opts or dist.BarrierOptions()).wait()
        return finished_work([])

    def getBackendName(self) -> str:  # torch gives this name
        return "timed"

    def _done(self, collective: Any, tensors: Any, options: Any) -> Any:
        with WAITING:
            collective(tensors, options).wait()
        return finished_work(tensors)


def finished_work(result: Any) -> Any:
    """A handle of a collective that is already done."""
    future: torch.futures.Future[Any] = torch.futures.Future()
    future.set_result(result)
    return native._create_work_from_future(future)  # type: ignore[attr-defined]
