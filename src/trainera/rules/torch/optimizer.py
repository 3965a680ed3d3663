"""Optimizers that evaluate the loss themselves are refused.

**What.** Nothing is changed. `LBFGS`, and `optimizer.step(closure)` of any optimizer, are
refused.

**Why.** The closure computes the loss of one worker's slice, and the optimizer decides from it
how far to go; workers would decide differently.

**Example.**

    optimizer.step(closure)  # refused

**Safety.** All other optimizers of `torch.optim` need no change: they see averaged gradients.

**Limits.** Optimizers of other libraries are not known; without a known one a script is refused.
"""

from collections.abc import Iterator

from trainera.engines.base import Engine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, refusal_of

NAME = "optimizer"


def plan(facts: Facts, engine: Engine, options: Options) -> Iterator[Finding]:
    for trouble in facts.troubles.values():
        if trouble.rule == NAME:
            yield refusal_of(trouble)
