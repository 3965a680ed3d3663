"""Gradients through values of the whole batch, back to every worker's part.

Some losses are no mean over samples: a root of a mean, or one that compares samples with each
other. Then every worker computes with the whole batch's value. How its own loss depends on that is
added up over the workers on the way back, because each worker's part went into all of them.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from trainera.crew.rows import is_column
from trainera.crew.transport import TRANSPORT


class Linked(torch.autograd.Function):
    """The whole as the result of a function of this worker's part."""

    @staticmethod
    def forward(
        ctx: Any, part: torch.Tensor, whole: torch.Tensor, factor: float, first: int | None
    ) -> torch.Tensor:
        """The part is rows of the whole from `first` on; or a summand, times the factor."""
        ctx.like, ctx.factor, ctx.first = part.detach().new_empty(0), factor, first
        ctx.shape = part.shape
        return whole.view_as(whole)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
        total = gradient.clone(memory_format=torch.contiguous_format)
        TRANSPORT.add_up(total)
        if not ctx.factor:  # an idle worker: its rows are no part of the batch
            return ctx.like.new_zeros(ctx.shape), None, None, None
        if ctx.first is not None:
            total = total.narrow(0, ctx.first, ctx.shape[0])
        return (total * ctx.factor).to(ctx.like), None, None, None


def linked(part: Any, whole: Any, factor: float, first: int | None = None) -> Any:
    """The whole, through which gradients flow where they flow through the part."""
    if isinstance(part, torch.Tensor) and part.requires_grad and torch.is_grad_enabled():
        return Linked.apply(part, whole, factor, first)  # type: ignore[no-untyped-call]
    return whole


def linked_rows(part: Any, whole: Any, start: int, mine: int) -> Any:
    """The same for the rows of all workers, of which `mine` from `start` on are this one's."""
    if is_column(part):
        return whole
    if isinstance(part, Mapping):
        return {key: linked_rows(part[key], whole[key], start, mine) for key in part}
    if isinstance(part, tuple):
        pairs = zip(part, whole, strict=True)
        items = [linked_rows(one, other, start, mine) for one, other in pairs]
        return type(whole)(*items) if hasattr(whole, "_fields") else type(whole)(items)
    first = start * (len(part) // mine) if mine else 0
    return linked(part, whole, float(mine > 0), first)
