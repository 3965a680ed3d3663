"""Learning rates for batches that have grown with the number of workers."""

import math
from typing import Any

from trainera.crew.sharing import current
from trainera.crew.state import CREW


def scaled(optimizer: Any, rule: str, warmup: float = 0.0) -> Any:
    """The optimizer, taking steps with larger learning rates than the script says.

    `rule` is "linear" (times N) or "sqrt" (times the root of N); over the first `warmup` epochs the
    factor grows from 1 to that, batch by batch. The rates are changed for the time of a step only:
    what the script or its scheduler reads and sets are the rates of the script.
    """
    if CREW.size == 1:
        return optimizer
    goal = float(CREW.size) if rule == "linear" else math.sqrt(CREW.size)
    rates: list[Any] = []

    def raise_rates(stepping: Any, arguments: Any, keywords: Any) -> None:
        factor = warm(goal, warmup)
        rates[:] = [group["lr"] for group in stepping.param_groups]
        for group in stepping.param_groups:
            group["lr"] = group["lr"] * factor

    def put_back(stepping: Any, arguments: Any, keywords: Any) -> None:
        for group, rate in zip(stepping.param_groups, rates, strict=True):
            group["lr"] = rate

    optimizer.register_step_pre_hook(raise_rates)
    optimizer.register_step_post_hook(put_back)
    return optimizer


def warm(goal: float, warmup: float) -> float:
    """The factor at this moment of training: 1 at its first batch, the goal after the warm-up."""
    if not warmup:
        return goal
    loader: Any = current()  # a split one: no other batches grow
    epochs: float = (loader.begun - 1) / len(loader)
    return 1 + (goal - 1) * min(1.0, epochs / warmup)
