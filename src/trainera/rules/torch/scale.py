"""With a batch that grows, learning rates may grow, too.

**What.** With `--batch per-worker` and `--lr linear` or `--lr sqrt` every optimizer passes through
`crew.scaled(…)`. Without these options nothing is changed.

**Why.** With a batch of its own for each of N workers, an epoch has N times fewer steps. The usual
recipe makes up for that by steps that are N times as long (`linear`), or the root of N (`sqrt`).
Such steps are too long for a network that has just been made, so `--warmup E` lets the factor grow
from 1, batch by batch, over the first E epochs: after b of B batches an epoch it is
1 + (N - 1) · b / (E · B).

**Example.**

    - optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    + optimizer = crew.scaled(torch.optim.SGD(model.parameters(), lr=0.1), "linear", warmup=5)

**Safety.** The factor is applied for the time of a step only. So it holds whatever a scheduler or
the script does to the rates, and the rates that the script prints are its own.

**Limits.** What is learned is not what the sequential script learns, and may be worse. This is why
it is an option.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, edit, wrap

NAME = "scale"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    if options.lr == "keep":
        return
    warmup = f", warmup={options.warmup_epochs:g}" if options.warmup_epochs else ""
    text = f'crew.scaled({{}}, "{options.lr}"{warmup})'
    reason = "steps of a batch that grows with the workers are longer"
    for node in facts.optimizers:
        file = next(file for file in facts.files.values() if node in file.parents)
        yield edit(NAME, file, node, wrap(text), reason, (CREW,))
