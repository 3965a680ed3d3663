"""What is asked of the network itself goes past the wrapper.

**What.** `model.state_dict()`, `model.fc`, `model.encode(x)`, `copy.deepcopy(model)` become
`model.module.state_dict()` and so on.

**Why.** The wrapper knows calls, parameters and modes; everything else belongs to the network
inside. Saved through the wrapper, every key would begin with `module.`, and the sequential script
could not load it.

**Example.**

    - torch.save(model.state_dict(), "best.pt")
    + crew.once(torch.save, model.module.state_dict(), "best.pt")

A training step that is a method of the network, `model.training_step(batch)`, becomes
`crew.through(model).training_step(batch)`: it is run as the wrapper runs `forward()`, so that its
gradients are averaged.

**Safety.** In functions that are given wrapped and bare networks, `crew.bare(model)` is used.

**Limits.** Where a training step goes through a layer of the network, or past its own call in other
ways, there is no wrapper (see `wrap`), and nothing has to go past it.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.rules.torch._tools import Finding, Words, edit, spots, wrap

NAME = "access"

REFUSALS = {
    "saved-inside": Words(
        what="the network is saved inside of something else",
        why="its wrapper would be saved with it, and the original could not load it",
        do="save the network's state_dict()",
    ),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    if not engine.wraps:
        return
    methods = spots(facts.through.values())
    for node, found in methods.items():
        yield edit(
            NAME,
            found[0].file,
            node,
            wrap("crew.through({})"),
            "gradients of this method are averaged: it is run as the wrapper runs forward()",
            (CREW,),
        )
    for node, found in spots(facts.bare.values()).items():
        if node in methods:
            continue
        always = {spot.what for spot in found} == {"module"} and not any(
            key[1] is node for key in facts.plain_models
        )
        template = engine.bare if always else "crew.bare({})"
        yield edit(
            NAME,
            found[0].file,
            node,
            wrap(template),
            "this is asked of the network inside the wrapper; keys and attributes stay the same",
            () if always else (CREW,),
        )
