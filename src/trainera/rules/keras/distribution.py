"""The run begins by joining: from there on every batch is shared out.

**What.** One statement is added where the run begins, before any network is made:
`keras.distribution.set_distribution(crew.DataParallel())` on JAX, `crew.join_horovod(hvd)` for
Horovod, `crew.join_strategy(tf.distribute.MultiWorkerMirroredStrategy)` for TensorFlow's own
collectives, `crew.join_devices()` for TensorFlow's devices in one process. Tarantella is joined by
its import; there the statement silences all processes but one.

**Why.** On JAX each device has the weights, and every batch that `fit`, `evaluate`, `predict` or
`train_on_batch` is given lies in parts on all of them. It stays one process and one program: JAX
computes of the parts what one device would compute of the whole. Keras's own `DataParallel` ends
with an error where a batch cannot be dealt evenly, such as the last one; `crew.DataParallel` takes
any number of rows.

On TensorFlow with `mirrored` it stays one program as well: a layer that is known to treat rows one
by one computes those of each device there, and what comes out is the whole batch's tensor again.

With `horovod` and `multiworker` there is a process for each device. All of them run the whole
script, from the same random numbers and on the same batches; inside of a network each computes its
rows only, and what comes out is gathered. Gradients of weights are added up on the way back. So
losses, metrics, callbacks, clipping, optimizers, History and files are those of the script as it
was, by construction and not by analysis.

**Example.**

    +keras.distribution.set_distribution(crew.DataParallel())
     model = keras.Sequential([...])
     model.fit(x, y, batch_size=50)

**Safety.** On one device the script behaves as the original. On JAX, laying out an array otherwise
never changes what is computed with it, and random generators whose numbers depend on the device are
refused when it runs. On TensorFlow a layer that is not known to treat rows one by one, nor proves
to on trial, is given the whole batch by every worker; and the workers compare their batches and
weights at the end of each epoch.

**Limits.** Sums are added up in another order, so that in float32 the last digits differ, as they
do between any two machines.
"""

import sys
from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._places import clashes, first_deed
from trainera.rules.common._tools import Finding, before, edit

NAME = "distribution"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    # What the standard library is called by is not taken from a script that has it, too.
    standard = {word for word in engine.names if word in sys.stdlib_module_names}
    yield from clashes(NAME, facts.files, engine.names - standard)
    known = {"keras": facts.keras_name, "tensorflow": facts.tensorflow_name}
    needed = [name for name in known if f"{{{name}}}" in engine.join.text]
    imports = tuple(f"import {name}" for name in needed if not known[name])
    yield edit(
        NAME,
        facts.script,
        first_deed(facts.script, facts.files, facts.first_import),
        before(engine.join.text.format(**{name: known[name] or name for name in needed})),
        engine.joins,
        (*imports, *engine.join.imports),
    )
