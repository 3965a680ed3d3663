"""Batches that a script makes itself are cut: each worker trains on its rows of them.

**What.** The rounds of the training loop become `crew.steps(…)`, and what gives the batch, or the
numbers of its samples, is put into `crew.cut(…)`.

**Why.** Without a DataLoader there is nothing to split. But a batch in memory costs next to nothing
to make, so that every worker can make all of it, exactly as the sequential script does, and then
take its rows.

**Example.**

    - for step in range(5000):
    -     x, y = get_batch("train")
    + for step in crew.steps(range(5000)):
    +     x, y = crew.cut(get_batch("train"))
          loss = criterion(model(x), y)
          optimizer.zero_grad()
    -     loss.backward()
    +     (loss * crew.current().share).backward()
          optimizer.step()

**Safety.** Up to the cut all workers draw from the same random numbers, so that they make the same
batch; they compare a checksum of it in the first steps and now and then later. After the cut,
too: what is drawn for rows is drawn for all of them, and each worker takes its own (`random`); what
is drawn for all, all draw alike. All that is cut in one round must have the same number of rows.

In the first two steps every network that is trained is also given halves of its rows, without
gradients and in evaluation mode. If it makes something else of them than of all rows at once, it
looks from row to row: the run ends, and says so.

A `while` loop asks `crew.next_step(…)` whether it goes on, and `crew.end_steps()` follows it if it
may end by `break`.

**Limits.** It must be seen that rows are samples, and not steps in time. So it is for these three
ways: a function of the script's that looks up rows by random numbers; `x[i]` where `i` are several
random numbers, or a part of a random order; the same part `[i : i + n]` of at least two tables. A
`while` loop must not end by `return`. `--batch per-worker` is refused: how many rows to make is for
the script to say.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, after, cannot_grow, edit, named, wrap

NAME = "handmade"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for node, spot in facts.handmade.items():
        if options.batch == "per-worker":
            yield cannot_grow(spot.file, node)
            continue
        reason = "every worker makes the batch, the same one, and trains on its rows of it"
        yield edit(NAME, spot.file, node, wrap("crew.cut({})"), reason, (CREW,))
    loops = {loop.node: loop for loop in facts.loops.values() if loop.handmade}
    for node, loop in loops.items():
        reason = "until the batch is cut all workers draw the same random numbers"
        if isinstance(node, ast.For):
            template = named("crew.steps({})", facts.names.get(node))
            yield edit(NAME, loop.file, node.iter, wrap(template), reason, (CREW,))
        elif isinstance(node, ast.While):
            yield edit(NAME, loop.file, node.test, wrap("crew.next_step({})"), reason, (CREW,))
            if any(isinstance(part, ast.Break) for part in ast.walk(node)):
                reason = "the last step is over, and with it what workers draw for themselves"
                yield edit(NAME, loop.file, node, after("crew.end_steps()"), reason, (CREW,))
