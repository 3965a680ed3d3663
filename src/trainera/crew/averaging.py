"""Averages gradients without a wrapper around the network.

A wrapper averages what one call of the network gave, once. Where a script goes backward through one
call twice, uses layers apart from their network, or trains parameters of no network, the gradients
are averaged when each backward() ends instead. That costs the overlap with computing, and is right
whatever the gradients came from: what has been averaged is the same on every worker, so that to
average it again, with something added, averages what was added.
"""

from typing import Any

import torch
import torch.distributed as dist

from trainera.crew.state import CREW
from trainera.crew.transport import TRANSPORT


class Gradients:
    """The gradients of one optimizer's parameters."""

    made = 0
    waiting: "dict[int, Gradients]" = {}  # noqa: RUF012
    """Those with new gradients in the backward() that is going on, by their number."""

    def __init__(self, optimizer: Any) -> None:
        Gradients.made += 1
        self.number = Gradients.made
        self.optimizer = optimizer
        self.known: set[torch.Tensor] = set()
        self.fresh: set[torch.Tensor] = set()
        self.watch()

    def parameters(self) -> list[torch.Tensor]:
        return [p for group in self.optimizer.param_groups for p in group["params"]]

    def watch(self) -> bool:
        """Sees to it that each parameter tells of its gradients; whether some were not yet known.

        Parameters may be added at any time, and have told nobody of the gradients they have.
        """
        added = [parameter for parameter in self.parameters() if parameter not in self.known]
        for parameter in added:
            self.known.add(parameter)
            frozen = not parameter.requires_grad  # it may be freed later on, and tells of it then
            parameter.requires_grad_(True)
            hooked: Any = parameter  # the method has no types
            hooked.register_post_accumulate_grad_hook(self.note)
            parameter.requires_grad_(not frozen)
            if parameter.grad is not None:
                self.fresh.add(parameter)
        return bool(added)

    def note(self, parameter: torch.Tensor) -> None:
        """Called in backward() for each gradient; the first of all asks to be told of its end."""
        if not Gradients.waiting:
            engine: Any = torch.autograd.Variable._execution_engine
            engine.queue_callback(average_waiting)
        Gradients.waiting[self.number] = self
        self.fresh.add(parameter)

    def before_step(self, *_: Any) -> None:
        if self.watch():
            self.average()

    @torch.no_grad()
    def average(self) -> None:
        """Averages every gradient that is new on some worker."""
        self.watch()
        parameters = self.parameters()
        fresh = [float(p in self.fresh and p.grad is not None) for p in parameters]
        new = torch.tensor(fresh, device=parameters[0].device)
        self.fresh.clear()
        TRANSPORT.add_up(new)
        together: dict[tuple[Any, ...], list[torch.Tensor]] = {}
        for parameter in (p for p, count in zip(parameters, new.tolist(), strict=True) if count):
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            grad = parameter.grad
            if grad.is_sparse:
                dist.all_reduce(grad)
                grad.div_(CREW.size)
            else:
                together.setdefault((grad.dtype, grad.device), []).append(grad)
        for grads in together.values():
            average_together(grads)


def average_waiting() -> None:
    """The end of backward(): all workers average in the order in which optimizers were made."""
    waiting = sorted(Gradients.waiting.items())
    Gradients.waiting.clear()
    for _, gradients in waiting:
        gradients.average()


def average_together(grads: list[torch.Tensor]) -> None:
    """Averages tensors of one type and device in one message."""
    flat = torch.cat([grad.reshape(-1) for grad in grads])
    TRANSPORT.add_up(flat)
    flat /= CREW.size
    start = 0
    for grad in grads:
        grad.copy_(flat[start : start + grad.numel()].view_as(grad))
        start += grad.numel()


def average_after_backward(optimizer: Any) -> Any:
    """The optimizer; its parameters' gradients are averaged over the workers by each backward()."""
    if CREW.size > 1:
        optimizer.register_step_pre_hook(Gradients(optimizer).before_step)
    return optimizer
