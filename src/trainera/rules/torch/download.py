"""Downloads are done by one worker first.

**What.** A call that downloads goes through `crew.in_turn(…)`.

**Why.** Workers that download to one folder at the same time break each other's files. The first
worker of each machine goes first; the others then find the files in place.

**Example.**

    - train_set = datasets.MNIST(root, train=True, download=True)
    + train_set = crew.in_turn(datasets.MNIST, root, train=True, download=True)

**Safety.** Every worker gets its own result of the same call.

**Limits.** Known by the argument `download=` and by the names of common download functions.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options, Through
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, edit, spots

NAME = "download"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    for node, found in spots(facts.in_turn.values()).items():
        yield edit(
            NAME,
            found[0].file,
            node,
            Through(function="crew.in_turn"),
            "the first worker of a machine downloads, then the others find it there",
            (CREW,),
        )
