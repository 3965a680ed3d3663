"""Keras spreads every batch over the devices.

**What.** One statement is added where the run begins, before any network is made:
`keras.distribution.set_distribution(crew.DataParallel())`.

**Why.** From there on each device has the weights, and every batch that `fit`, `evaluate`,
`predict` or `train_on_batch` is given lies in parts on all of them. It stays one process and one
program: JAX computes of the parts what one device would compute of the whole. So losses, metrics,
batch normalisation, dropout, callbacks, History and files are those of the script as it was, by
construction and not by analysis. Keras's own `DataParallel` ends with an error where a batch cannot
be dealt evenly, such as the last one; `crew.DataParallel` takes any number of rows.

**Example.**

    +keras.distribution.set_distribution(crew.DataParallel())
     model = keras.Sequential([...])
     model.fit(x, y, batch_size=50)

**Safety.** Laying out an array otherwise never changes what is computed with it. On one device the
script behaves as the original. Random generators whose numbers depend on the device are refused
when it runs.

**Limits.** Sums are added up in another order, so that in float32 the last digits differ, as they
do between any two machines.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._places import clashes, first_deed
from trainera.rules.common._tools import Finding, before, edit

NAME = "distribution"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    yield from clashes(NAME, facts.files, engine.names)
    keras = facts.keras_name
    yield edit(
        NAME,
        facts.script,
        first_deed(facts.script, facts.files, facts.first_import),
        before(engine.join.text.format(keras=keras or "keras")),
        "spreads every batch over the devices; weights are on each of them",
        (*(() if keras else ("import keras",)), *engine.join.imports),
    )
