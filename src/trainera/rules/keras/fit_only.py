"""Training loops of the script's own are refused where only `fit` is shared out.

**What.** Nothing is changed. `train_on_batch`, and gradients by a tape outside of `train_step`, are
refused with engines that take part in `fit` and in nothing else.

**Why.** Such an engine works within Keras's trainer. Past it, each process or device would train by
itself, or one of them alone.

**Example.**

    for x, y in batches:
        model.train_on_batch(x, y)   # refused with --engine tarantella

**Safety.** What `train_step` says is called by the trainer, and stays.

**Limits.** A script that trains in both ways is refused for the one.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._tools import Finding, refuse
from trainera.rules.keras._loops import own_steps

NAME = "fit-only"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    for spot in own_steps(facts) if engine.fit_only else ():
        yield refuse(
            NAME,
            spot.file,
            spot.node,
            "a training loop of the script's own",
            engine.fit_only,
            "train by fit(), with a train_step() if a step is special; or take --engine horovod",
        )
