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

from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, Words, refusal_of

NAME = "network"

REFUSALS = {
    "combines-samples": Words(
        what="the network combines samples of a batch with each other",
        why="a worker sees its slice only, so the result would differ",
        do="use layers that treat samples one by one, or batch normalisation, whose "
        "statistics are shared over the workers",
    ),
    "decides": Words(
        what="what the network computes depends on which batch it is given, or on chance",
        why="workers with different slices would take different paths",
        do="decide in the training loop, or sample by sample with torch.where",
    ),
    "fixed-size": Words(
        what="the batch size is fixed in the network",
        why="a worker's slice has fewer rows",
        do="use x.size(0), or -1, for the first size",
    ),
    "forward-hook": Words(
        what="a hook looks into the network while it runs",
        why="on each worker it would see a slice of the batch",
        do="return what it needs from forward() instead",
    ),
    "gradient-hook": Words(
        what="a hook is given gradients while they are computed",
        why="on each worker they are of its own slice: they are averaged after that",
        do="change the gradients between backward() and the optimizer's step",
    ),
    "own-gradient": Words(
        what="a backward() of the script's own is not seen to be linear in the gradient",
        why="the gradients of a worker's rows are weighed for the average of all workers",
        do="change the gradients between backward() and the optimizer's step",
    ),
    "layer-learns-shape": Words(
        what="this layer is changed by the batches it is given",
        why="each worker would change it by its slice",
        do="give the layer its final form when it is made",
    ),
    "prints": Words(
        what="the network prints something of the batch it is given",
        why="a worker would print something of its slice",
        do="print it in the training loop, or not at all",
    ),
    "remembers": Words(
        what="the network keeps a figure of the batch it has just seen",
        why="each worker sees its slice only, so the copies would drift apart",
        do="compute it in the training loop, where it is combined over the workers",
    ),
    "same-with-dropout": Words(
        what="a network is given the same on every worker, and there may be dropout",
        why="each worker would drop other values, and none those of the sequential script",
        do="compute what needs the whole batch after the network, from what it gives",
    ),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for trouble in facts.troubles.values():
        if trouble.rule == NAME:
            yield refusal_of(trouble, REFUSALS[trouble.code])
