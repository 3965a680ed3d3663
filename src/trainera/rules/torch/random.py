"""Dropout and noise are those of the sequential run, unless each worker is to draw its own.

**What.** Nothing is added: while a loop over batches runs, what torch draws for the samples of a
slice is drawn for the whole batch by every worker, from one stream, and each takes its rows. What
is drawn for all, a layer that is left out by chance, a factor for the batch, all draw alike. With
`--random own` one statement, `crew.own_random_numbers()`, is added after the worker has joined.

**Why.** Drawn for slices, the numbers would be others, and the stream would move differently: so
would the order of the samples from the second epoch on.

**Example.** With `--random own`:

    + crew.join()
    + crew.own_random_numbers()
      main()

**Safety.** Every kernel of torch that draws is covered, also those in an LSTM or attention. Which
dimension of a draw are the rows is seen in the first two steps of each loop: all workers are given
different numbers of samples there, and compare the shapes that they draw. What cannot be told that
way ends the run, with the place and status 3. Numbers by `numpy.random`: see `draw`.

**Limits.** Every worker draws for all: `benchmarks/randomness.py` measures what that takes. What a
dataset draws as it is read is drawn by each worker for its samples. What a network that
`torch.compile` compiles draws inside of the compiled code cannot be reached; the plan says so. On
GPUs the fused kernels of attention and of recurrent layers draw inside, too.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Note, Options
from trainera.read.facts import Facts
from trainera.read.source.names import Names
from trainera.rules.common._places import first_deed
from trainera.rules.torch._tools import Finding, before, edit

NAME = "random"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    if options.random == "exact":
        yield from _compiled(facts)
        return
    deed = first_deed(facts.script, facts.files)
    yield edit(
        NAME,
        facts.script,
        deed,
        before("crew.own_random_numbers()"),
        "each worker draws dropout and noise for its own samples, as asked for",
        (CREW,),
    )
    yield Note(
        rule=NAME,
        place=facts.script.place(deed),
        what="dropout and noise are not those of the sequential run",
        why="each worker draws its own, so that the order of the samples, too, is another one from "
        "the second epoch on",
    )


def _compiled(facts: Facts) -> Iterator[Finding]:
    """Compiled code draws from a seed of its own for each call, which all workers share."""
    for file in facts.files.values():
        names = Names(file)
        for node in file.nodes:
            target = node.func if isinstance(node, ast.Call) else node
            if isinstance(target, ast.expr) and names.of(target) == "torch.compile":
                yield Note(
                    rule=NAME,
                    place=file.place(node),
                    what="dropout inside of a compiled network is not that of the sequential run",
                    why="compiled code draws by itself, on every worker the same for its slice; "
                    "with --random own each draws its own",
                )
                return
