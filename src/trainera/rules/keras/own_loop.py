"""Batches of a training loop of the script's own are spread over the devices, too.

**What.** Where a loop hands a batch to a function that JAX compiles or differentiates (`jax.jit`,
`jax.grad`, `jax.value_and_grad`), `crew.spread(…)` goes around the batch.

**Why.** Such a loop does not pass through Keras's trainer, which deals out batches by itself. Given
whole, a batch would be worked through by every device in full.

**Example.**

     for x, y in batches:
    -    loss, state = train_step(state, x, y)
    +    loss, state = train_step(state, crew.spread(x), crew.spread(y))

**Safety.** What is computed stays the same whatever is spread. A batch that cannot be dealt evenly
is given to every device whole: slower, but right.

**Limits.** An Estimator of TensorFlow's in the script is refused: it trains and saves by itself.
Batches are recognised as what a loop goes through, parts of that (`x, y = batch`,
`batch["x"].numpy()`), or rows that it picks by number. A script in which none is found, and that
does not call `fit` or `train_on_batch`, is refused. Over several processes such batches are not
shared out: each process computes them in full, and a script that trains in no other way is refused.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.effects import estimators
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._tools import Finding, edit, refuse, wrap

NAME = "own-loop"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    for spot in estimators(facts.files):
        yield refuse(
            NAME,
            spot.file,
            spot.node,
            "an Estimator trains here, which does not pass through Keras",
            "every worker would train it by itself, and all would write its checkpoints to one "
            "place",
            "leave it out, or train the network by fit()",
        )
    if engine.backend != "jax":
        return
    if engine.spread is None:
        if not facts.trainings:
            yield refuse(
                NAME,
                facts.script,
                facts.script.tree.body[0],
                "no step is found that Keras compiles",
                "only batches that Keras's trainer is given are shared out between processes",
                "train by fit() or train_on_batch(), or on the devices of one process: "
                "--engine jax",
            )
        return
    on_another = facts.tapes or facts.backend_name not in ("", engine.backend)  # `backend` says so
    if not facts.trainings and not facts.batches and not on_another:
        yield refuse(
            NAME,
            facts.script,
            facts.script.tree.body[0],
            "no step is found that Keras or JAX compiles",
            "there is nothing whose batches could be spread over devices",
            "train by fit() or train_on_batch(), or by a function under jax.jit that is given "
            "batches in a loop",
        )
    for spot in facts.batches:
        yield edit(
            NAME,
            spot.file,
            spot.node,
            wrap(engine.spread.text),
            "a batch that does not pass through Keras's trainer is spread over the devices here",
            engine.spread.imports,
        )
