"""With a batch that grows, a step takes several of the script's batches.

**What.** With `--batch per-worker` the statement `crew.grow_batches()` stands behind the one by
which a worker joins; `--lr` and `--warmup` are its arguments. Without the option nothing is
changed.

**Why.** With a batch of its own for each of N workers, an epoch has N times fewer steps. The usual
recipe makes up for that by steps that are N times as long (`--lr linear`), or the root of N
(`sqrt`). Such steps are too long for a network that has just been made, so `--warmup E` lets the
factor grow from 1, step by step, over the first E epochs: after b of B steps an epoch it is
1 + (N - 1) · b / (E · B).

**Example.**

     crew.join_horovod(hvd)
    +crew.grow_batches("linear", warmup=5)

**Safety.** `fit` joins N batches that follow each other, whatever they come from: arrays with a
`batch_size`, `tf.data` with `.batch(n)`, generators. No step reaches into the next epoch:
`steps_per_epoch` batches of the script are one, in N times fewer steps. The factor is applied for
the time of a step only, so the rates that the script or its callbacks read and set are its own.

**Limits.** What is learned is not what the sequential script learns, and may be worse. This is why
it is an option. A `LearningRateSchedule` counts steps, of which there are fewer now; it is left as
it is. Loops of the script's own (`train_on_batch`, a tape outside of `train_step`) are refused:
which batches could be joined there cannot be told. Legacy optimizers end the run if rates are to
grow.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._places import first_deed
from trainera.rules.common._tools import Finding, before, edit, refuse
from trainera.rules.keras._loops import own_steps

NAME = "grow"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if options.batch == "global" or engine.grow is None:
        return
    for spot in own_steps(facts):
        yield refuse(
            NAME,
            spot.file,
            spot.node,
            "a training loop of the script's own",
            "with --batch per-worker a step takes several batches, and which ones this loop takes "
            "cannot be told",
            "train by fit(), or leave out --batch per-worker, and change the batch size in the "
            "script",
        )
    words = [f'"{options.lr}"'] if options.lr != "keep" else []
    words += [f"warmup={options.warmup_epochs:g}"] if options.warmup_epochs else []
    yield edit(
        NAME,
        facts.script,
        first_deed(facts.script, facts.files, facts.first_import),
        before(engine.grow.text.format(", ".join(words))),
        "a step takes a batch of the script's for every worker",
        engine.grow.imports,
    )
