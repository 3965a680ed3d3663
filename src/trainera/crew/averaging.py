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
from trainera.crew.wrapping import alike


class Gradients:
    """The gradients of a network's parameters, or of those of an optimizer that no network has."""

    made = 0
    waiting: "dict[int, Gradients]" = {}  # noqa: RUF012
    """Those with new gradients in the backward() that is going on, by their number."""

    def __init__(self, source: Any) -> None:
        Gradients.made += 1
        self.number = Gradients.made
        self.source = source
        self.known: dict[torch.Tensor, None] = {}  # in their order
        self.fresh: set[torch.Tensor] = set()
        self.watch()

    def watch(self) -> None:
        """Sees to it that each parameter tells of its gradients.

        Parameters may be added at any time, and have told nobody of the gradients they have.
        """
        if isinstance(self.source, torch.nn.Module):
            found = list(self.source.parameters())
        else:
            found = [p for group in self.source.param_groups for p in group["params"]]
        added = [parameter for parameter in found if not is_watched(parameter)]
        for parameter in added:
            self.known[parameter] = None
            frozen = not parameter.requires_grad  # it may be freed later on, and tells of it then
            parameter.requires_grad_(True)
            hooked: Any = parameter  # the method has no types
            hooked.register_post_accumulate_grad_hook(self.note)
            parameter.requires_grad_(not frozen)
            if parameter.grad is not None:
                self.fresh.add(parameter)

    def note(self, parameter: torch.Tensor) -> None:
        """Called in backward() for each gradient; the first of all asks to be told of its end."""
        CREW.require_all("backward()")
        if not Gradients.waiting:
            engine: Any = torch.autograd.Variable._execution_engine
            engine.queue_callback(average_waiting)
        Gradients.waiting[self.number] = self
        self.fresh.add(parameter)

    def before_step(self) -> None:
        """What nobody was told of by a backward()."""
        self.watch()
        if self.fresh:
            self.average()

    @torch.no_grad()
    def average(self) -> None:
        """Averages every gradient that is new on some worker."""
        self.watch()
        parameters = list(self.known)
        if not parameters:
            return
        # Without a sample of the batch a worker computes with stand-ins, which have no say.
        idle = CREW.last is not None and not CREW.last.active
        fresh = [float(not idle and p in self.fresh and p.grad is not None) for p in parameters]
        new = torch.tensor(fresh, device=parameters[0].device)
        sparse = torch.tensor([float(p.grad is not None and p.grad.is_sparse) for p in parameters])
        self.fresh.clear()
        both = torch.stack([new, sparse.to(new.device)])
        TRANSPORT.add_up(both)
        together: dict[tuple[Any, ...], list[torch.Tensor]] = {}
        for parameter, (count, thin) in zip(parameters, both.T.tolist(), strict=True):
            if not count:
                if idle and parameter.grad is not None and is_nought(parameter.grad):
                    parameter.grad = None  # only stand-ins led to it
            elif thin:
                average_sparse(parameter)
            else:
                if parameter.grad is None:
                    parameter.grad = torch.zeros_like(parameter)
                kind = (parameter.grad.dtype, parameter.grad.device)
                together.setdefault(kind, []).append(parameter.grad)
        for grads in together.values():
            average_together(grads)


def is_watched(parameter: torch.Tensor) -> bool:
    """Whether it tells of its gradients already: of a network's, or of another optimizer's."""
    hooks = getattr(parameter, "_post_accumulate_grad_hooks", None) or {}
    return any(isinstance(getattr(hook, "__self__", None), Gradients) for hook in hooks.values())


def is_nought(grad: torch.Tensor) -> bool:
    values = grad.coalesce().values() if grad.is_sparse else grad
    return not values.any()


def average_waiting() -> None:
    """The end of backward(): all workers average in the order in which they were made."""
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


def average_sparse(parameter: torch.Tensor) -> None:
    """The gradient of an embedding that has but the rows in use."""
    if parameter.grad is None:
        width = parameter.shape[1:]
        parameter.grad = torch.sparse_coo_tensor(
            torch.zeros(1, 0, dtype=torch.int64, device=parameter.device),
            torch.zeros(0, *width, dtype=parameter.dtype, device=parameter.device),
            parameter.shape,
            check_invariants=False,
        )
    grad: torch.Tensor = parameter.grad
    dist.all_reduce(grad)
    grad.div_(CREW.size)


def average_after_backward(thing: Any) -> Any:
    """The network, or optimizer, whose gradients are averaged over the workers by each backward().

    A network also starts from the first worker's weights. An optimizer may have parameters besides.
    """
    if CREW.size == 1:
        return thing
    if isinstance(thing, torch.nn.Module):
        Gradients(alike(thing))
    else:
        thing._gradients = Gradients(thing)  # for the check before each step
        thing._gradients.before_step()  # it may have been made after backward()
    return thing
