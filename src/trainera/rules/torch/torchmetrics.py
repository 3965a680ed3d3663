"""Metrics of torchmetrics are given whole batches, so they do not add up the workers' again.

**What.** A metric gets `sync_on_compute=False`.

**Why.** Inside a process group, torchmetrics adds up the states of all workers when it computes.
But in the converted script every worker updates its metric with the whole batch (see `metrics`);
added up once more, every sample would count as often as there are workers.

**Example.**

    - confusion = ConfusionMatrix(task="multiclass", num_classes=10)
    + confusion = ConfusionMatrix(task="multiclass", num_classes=10, sync_on_compute=False)

**Safety.** The functions of `torchmetrics.functional` keep no state and need no change.

**Limits.** A metric that a network updates inside its own `forward` or steps, and a metric class of
the script's own, are refused.
"""

from collections.abc import Iterator

from trainera.engines.torch.base import TorchEngine
from trainera.plan import Keyword, Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, Words, edit, spots

NAME = "torchmetrics"

REFUSALS = {
    "adds-up-itself": Words(
        what="this metric adds up the figures of all workers by itself",
        why="it is given the figures of whole batches, so samples would count repeatedly",
        do="use a metric of torchmetrics, or pass sync_on_compute=False to its constructor",
    ),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for node, found in spots(facts.meters.values()).items():
        yield edit(
            NAME,
            found[0].file,
            node,
            Keyword(name="sync_on_compute", value="False"),
            "every worker's metric sees whole batches; added up, samples would count repeatedly",
            (),
        )
