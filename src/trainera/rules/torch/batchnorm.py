"""Batch normalisation uses the statistics of the global batch.

**What.** The network passes through `crew.batchnorm(…)` before it is wrapped.

**Why.** A batch-norm layer computes mean and variance over the samples it sees. On a worker that
is a slice, so the network would learn something else, and the running statistics would differ from
worker to worker. With the crew's layers all workers use the mean and variance of the whole batch.

**Example.**

    + model = DistributedDataParallel(crew.batchnorm(Net()), broadcast_buffers=False)

Where the network is given something else than a batch while it trains (the fixed noise of a GAN),
the same on every worker, `crew.same_input(…)` is put around it: its statistics are whole already.

**Safety.** Works on CPU too, with slices of unequal size and with workers that have no sample. The
layers keep their names, keys and, when the network is saved as a whole, their class.

**Limits.** One exchange a layer forward and one backward. `--batchnorm local` leaves the layers as
they are; what is learned is then no longer the same.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Carrier, Facts
from trainera.rules.torch._tools import Finding, after, edit, refuse, spots, wrap
from trainera.rules.torch.wrap import carrier_of, in_order, placed

NAME = "batchnorm"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    if options.batchnorm == "local" or not facts.statistics:
        return
    slices = {node for _, node in facts.unlike}
    for node, found in spots(facts.alike.values()).items():
        if node in slices:
            yield refuse(
                NAME,
                found[0].file,
                node,
                "this network is given slices of a batch, and elsewhere the same on every worker",
                "the statistics of slices are those of all workers, of the same they are not",
                "call the network in two places",
            )
            continue
        yield edit(
            NAME,
            found[0].file,
            node,
            wrap("crew.same_input({})"),
            "this input is the same on every worker: so are its statistics, by themselves",
            (CREW,),
        )
    reason = "batch statistics are those of the global batch, not of one worker's slice"
    done: set[tuple[ast.AST, str]] = set()
    others = untrained(facts)
    for origin, place in others.items():
        if place is None:
            file = next(one for one in facts.files.values() if origin in one.parents)
            yield refuse(
                NAME,
                file,
                origin,
                "this network is not trained and may use statistics of the batch",
                "where it gets a name is not clear, so they cannot be made those of all workers",
                "call its eval(), or assign it to a variable of its own before the training loop",
            )
    known = [place for place in others.values() if place is not None]
    for carrier in (*placed(facts, engine, options).values(), *known):
        target = ast.unparse(carrier.target)
        if (carrier.node, target) in done:
            continue
        done.add((carrier.node, target))
        if carrier.value is not None:
            action = wrap("crew.batchnorm({})")
            yield edit(NAME, carrier.file, carrier.value, action, reason, (CREW,))
        else:
            action_after = after(f"crew.batchnorm({target})")
            yield edit(NAME, carrier.file, carrier.node, action_after, reason, (CREW,))


def untrained(facts: Facts) -> dict[ast.AST, Carrier | None]:
    """Networks that normalise batches although nothing of them is trained, such as a teacher."""
    networks = frozenset(facts.normalising) - facts.trained
    return {origin: carrier_of(facts, origin) for origin in in_order(networks)}
