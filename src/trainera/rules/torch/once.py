"""What changes files or talks to a tracking service is done by one worker.

**What.** `torch.save(…)`, `open(…, "w")`, `os.makedirs(…)`, `SummaryWriter(…)` and their like go
through `crew.once(…)`.

**Why.** Several workers writing one file spoil it. Every worker evaluates the arguments, so that
whatever they need of the others cannot hang; the first one acts, and all wait until it is done, so
that nobody reads a half-written file.

**Example.**

    - torch.save(state, "best.pt")
    + crew.once(torch.save, state, "best.pt")

**Safety.** What the call returns is, on the other workers, an object that takes every method call
and does nothing, so `with crew.once(open, path, "w") as file:` works unchanged. An exception that
it raises is raised on all of them, of the same type and with the same values.

What a command or a copy answers is told to all, by `crew.agree(…)`. Where all workers would need
another value that only the first one has (`wandb.config`, a file read back), the script is refused.

**Limits.** Calls of libraries that are not known to write are left as they are.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options, Through
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, Words, edit, spots

NAME = "once"

REFUSALS = {
    "first-worker-only": Words(
        what="all workers need a value that only the first one has",
        why="it comes from a file or a service that only the first worker writes to",
        do="take the value from where the script has it itself, or read it from a file "
        'opened with mode "r"',
    ),
    "unknown-mode": Words(
        what="whether this file is read or written is not known",
        why="all workers may read it, but only one may write it",
        do="give the mode as a constant",
    ),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for node, found in spots(facts.once.values()).items():
        yield edit(
            NAME,
            found[0].file,
            node,
            Through(function="crew.once"),
            "done by the first worker; the others evaluate the arguments and wait",
            (CREW,),
        )
