"""Rows that are made for the whole batch are shared out: each worker takes those of its samples.

**What.** `loader.mine(…)` is put around `np.random.normal(size=(len(x), …))` and its like, and the
number of samples in it becomes that of the whole batch. So it is around
`x[torch.randperm(len(x))]`: partners for mixup come from the whole batch, gathered for that. And so
it is around whatever else a network is given that was made of the whole batch's samples.

**Why.** All workers draw the same numbers from numpy.random and random, so that choices which the
script makes by them are the same everywhere. For their slices they would draw the same noise, too,
and, where slices differ in size, go on with different numbers.

**Example.**

    - z = torch.Tensor(np.random.normal(0, 1, (x.size(0), 100)))
    + z = torch.Tensor(loader.mine(np.random.normal(0, 1, (loader.sum(x.size(0)), 100))))

    - mixed = 0.7 * x + 0.3 * x.flip(0)
    - loss = criterion(model(mixed), y)
    + mixed = loader.gather(0.7 * x) + 0.3 * loader.gather(x).flip(0)
    + loss = criterion(model(loader.mine(mixed)), y)

**Safety.** Every sample gets the very numbers that numpy gives it in the sequential script. An
order that torch draws is the first worker's on all.

**Limits.** What a network is given must be seen to have as many rows as the batch. Inside of a
network such a draw is refused. Rows that torch draws are left alone: they are drawn for the whole
batch when it runs, see `random`.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts, by_node
from trainera.rules.torch._tools import Finding, edit, refuse, wrap

NAME = "draw"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    plain = {node for _, node in facts.plain}
    for node, records in by_node(facts.cuts):
        texts = {record.what for record in records}
        record = next(iter(records))
        if node in plain or len(texts) > 1 or facts.also_without(node, facts.cuts):
            yield refuse(
                NAME,
                record.file,
                node,
                "rows are drawn for slices of batches here, and for something else",
                "which of them it is cannot be told here",
                "draw the two in functions of their own",
            )
            continue
        reason = "made for the whole batch, as in the sequential script; each worker takes its own"
        yield edit(NAME, record.file, node, wrap(f"{texts.pop()}.mine({{}})"), reason, (CREW,))
