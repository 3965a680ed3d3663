"""Sees to it that all workers step by the same gradients.

What is trained is found out by reading the script. Should something escape that, it would be
trained by each worker for itself, and nobody would notice. So now and then the gradients are
compared when an optimizer is about to use them.
"""

from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.optim.optimizer import register_optimizer_step_pre_hook

from trainera.crew.slice_figures import SliceFigure, leak
from trainera.crew.state import CREW
from trainera.crew.stretching import LOOKOUT
from trainera.crew.transport import TRANSPORT
from trainera.crew.trials import TRIALS

CHECKED_STEPS = frozenset({1, 2, 3, 10, 100, 1000, 10000})
ROUNDING = 1e-6
PART = 4096
STEPS: "WeakKeyDictionary[Any, tuple[int, int]]" = WeakKeyDictionary()
"""How often each optimizer has stepped, with how many parameters."""


def watch_steps() -> None:
    """Has each step of each optimizer looked at."""
    if CREW.size > 1:
        register_optimizer_step_pre_hook(before_step)


def before_step(optimizer: Any, *_: Any) -> None:
    """Raises if an optimizer of this worker is given gradients that another's is not."""
    LOOKOUT.raise_found()
    TRIALS.settle(optimizer)
    if getattr(optimizer, "_steps_apart", False):
        return
    gradients = getattr(optimizer, "_gradients", None)
    if gradients is not None:
        gradients.before_step()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    steps, size = STEPS.get(optimizer, (0, 0))
    steps = steps + 1 if size == len(parameters) else 1
    STEPS[optimizer] = (steps, len(parameters))
    if steps in CHECKED_STEPS and parameters:
        compare(optimizer, parameters)
    for group in optimizer.param_groups:
        for value in group.values():
            if isinstance(value, SliceFigure):
                leak(value.made, "is an option of an optimizer")


@torch.no_grad()
def compare(optimizer: Any, parameters: list[torch.Tensor]) -> None:
    """Compares sums and norms of all gradients over the workers."""
    mine = torch.stack([summed(parameter.grad) for parameter in parameters])
    mine = mine.to(parameters[0].device)
    everyones = torch.stack(TRANSPORT.gather(mine)).cpu()
    apart = everyones.max(0).values - everyones.min(0).values
    wrong = apart.max(1).values > ROUNDING * everyones[..., 1].max(0).values
    # What is no number on one worker has to be none on all, and is not compared.
    numbers = torch.isfinite(everyones).all(2)
    wrong |= numbers.any(0) & ~numbers.all(0)
    for place, parameter in enumerate(parameters):
        if wrong[place]:
            raise RuntimeError(
                f"trainera: the gradient of parameter {place} (of shape {list(parameter.shape)}) "
                f"of {type(optimizer).__name__} differs from worker to worker: it is trained, but "
                "trainera did not see that when it read the script. Make it a part of a network "
                "whose parameters() are given to the optimizer; and please report it"
            )


def summed(grad: torch.Tensor | None) -> torch.Tensor:
    """The sum of a gradient, by the root of how many values it has, and its Euclidean norm.

    In its own precision, because float64 takes ten times as long: a percent of a short training.
    """
    if grad is None:
        return torch.zeros(2, dtype=torch.float64)
    values = grad.coalesce().values() if grad.is_sparse else grad
    if values.is_complex():
        values = torch.view_as_real(values)
    flat = values.reshape(-1).to(torch.promote_types(values.dtype, torch.float32))
    total = flat.sum().to(torch.float64) / max(1, flat.numel()) ** 0.5
    return torch.stack([total, norm(flat)]).cpu()


def norm(flat: torch.Tensor) -> torch.Tensor:
    """The Euclidean norm by way of those of short parts: float32 loses digits in long sums."""
    even = flat.numel() // PART * PART
    parts = torch.linalg.vector_norm(flat[:even].view(-1, PART), dim=1)
    rest = torch.linalg.vector_norm(flat[even:]).view(1)
    whole_norm: torch.Tensor = torch.linalg.vector_norm(torch.cat([parts, rest]).to(torch.float64))
    return whole_norm
