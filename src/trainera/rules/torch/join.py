"""Every worker joins the crew before it does anything else.

**What.** One statement, `crew.join()`, is added where the run begins: after the imports, or as the
first line under `if __name__ == "__main__":`. If a module of the script's own does something while
it is imported, or a class while it is defined, it stands before that.

**Why.** A worker has to know who it is: it joins the process group (nccl on GPUs, gloo between
machines, shared memory on the CPUs of one), takes its own GPU as the current one, so that `"cuda"`
means this worker's, and takes its share of the cores. The random states of the first worker are
given to all, so that models, splits and orders are the same everywhere even in a script that sets
no seed. What the other workers print, log or show as progress is dropped, so that every line
appears once. When the process ends, for whatever reason, it leaves the process group.

**Example.**

    if __name__ == "__main__":
    +   crew.join()
        main()

**Safety.** Started plainly, the script is a world of one and behaves as the original.

**Limits.** What a library draws or prints while it is imported comes before the crew is joined.
"""

from collections.abc import Iterator

from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.common._places import clashes, first_deed
from trainera.rules.torch._tools import Finding, before, edit

NAME = "join"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    script = facts.script
    yield from clashes(NAME, facts.files, engine.names)
    yield edit(
        NAME,
        script,
        first_deed(script, facts.files),
        before(engine.join.text),
        "joins the crew: process group, this worker's device and cores, one random state for "
        "all, and one worker's output",
        engine.join.imports,
    )
