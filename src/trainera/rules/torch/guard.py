"""What reading cannot tell of a network is tried before anything is learned.

**What.** One statement, `crew.try_networks()`, is added after the worker has joined the crew.

**Why.** Whether `softmax(dim=-2)` or `nn.GRU(…)` looks from sample to sample depends on how many
dimensions a tensor has, which the source does not always say. Nor is it seen what becomes of rows
that are gone through one by one, or taken by their number. In a network that does so, a slice
of a batch gives something else than the batch, and every worker would learn something else.

**Example.**

    + crew.join()
    + crew.try_networks()
      main()

**Safety.** When a network that is trained is first called in a loop over batches, a copy of it is
given all rows of its slice and then the first part of them and the rest, without gradients. It must
make of the parts what it made of all: the same rows, wherever the batch stands in what it returns,
or a figure that is their mean or sum. If not, the run ends on all workers, before the first step of
an optimizer, with the place of the call, the reason and status 3. Nothing else changes: no random
number is drawn, nothing that the network keeps is touched, what it prints is dropped.

Layers of torch's own are tried in evaluation mode, which takes chance and batch statistics (see
`batchnorm`) out. Where the script's own layers draw random numbers, the same are drawn again, and
rows are replaced by others instead of left out.

Where the code does not tell, either, which dimension of what a network returns is the batch, it
has to be the first one, as it went in: `crew.try_networks(batch_first=True)` tries that as well.

**Limits.** What cannot be decided that way is let pass: a network for one batch size only, one that
returns whole numbers alone, a figure computed with random numbers, a slice whose rows are all alike
or that has but one. A network that is called for the first time long after the loop began is tried
a step late. One that begins to mix samples later, or does so in some steps only, is found when it
is tried again: in the first and the last step of a pass and in another one each time, as long as
that takes less than a second in all or half a percent of the time.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Note, Options
from trainera.read.facts import Facts
from trainera.rules.common._places import first_deed
from trainera.rules.torch._tools import Finding, before, edit, spots

NAME = "guard"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    found = spots(facts.unsure.values())
    if not found:
        return
    yield edit(
        NAME,
        facts.script,
        first_deed(facts.script, facts.files),
        before(f"crew.try_networks({'batch_first=True' if facts.guessed else ''})"),
        "networks are tried in the first steps: what is noted under `guard` may mix samples",
        (CREW,),
    )
    for node, records in found.items():
        yield Note(
            rule=NAME,
            place=records[0].file.place(node),
            what=f"{records[0].what}: tried when it runs",
            why="whether it looks from sample to sample cannot be told from the code; if it does, "
            "the run ends before anything is learned, with status 3",
        )
