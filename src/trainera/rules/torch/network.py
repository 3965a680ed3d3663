"""A network that combines the samples of a batch is refused.

**What.** Nothing is changed. Refused are networks seen to mix samples: an operation along the
batch dimension, a recurrent or attention layer that takes the batch for the sequence (no
`batch_first`), a product of the batch with itself, a batch size fixed in a view, a figure of the
batch that is kept for the next, a branch that depends on what the batch holds, a hook that looks
inside.

**Why.** A worker's copy sees its slice only, so the result would differ from the sequential one.

**Example.**

    x = x - x.mean(0)        # refused
    x = F.softmax(x, dim=0)  # refused

**Safety.** Batch normalisation is the exception: its statistics are shared (see `batchnorm`).

**Limits.** What is not recognised inside a `forward` is taken to treat samples one by one.
"""

from collections.abc import Iterator

from trainera.engines.base import Engine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, refusal_of

NAME = "network"


def plan(facts: Facts, engine: Engine, options: Options) -> Iterator[Finding]:
    for trouble in facts.troubles.values():
        if trouble.rule == NAME:
            yield refusal_of(trouble)
