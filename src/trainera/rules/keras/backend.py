"""The backend that a script is written for has to be the engine's.

**What.** Nothing is changed. A script that runs Keras on another backend than the engine is for is
refused.

**Why.** Backends draw other random numbers from the same seed, so on another one a script begins
with other weights, and learns another network.

**Example.**

    os.environ["KERAS_BACKEND"] = "tensorflow"   # refused with --engine jax

**Safety.** Where the script leaves the backend to the environment, the converted one looks at it
when it starts, and ends with a message if it is another one.

A script that chooses its backend is written for Keras 3: it is refused by engines that work within
the code of tf.keras 2, `horovod` and `multiworker`, and taken by `mirrored`.

**Limits.** No engine is for Keras on torch. A backend that is chosen by an expression is looked at
when the script starts.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Note, Options
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._tools import Finding, refuse

NAME = "backend"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if facts.tapes and engine.backend != "tensorflow":
        yield refuse(
            NAME,
            facts.tapes[0].file,
            facts.tapes[0].node,
            "the script computes gradients by a tape of TensorFlow",
            f"{engine.title} trains on {engine.backend}",
            "train by fit(), which runs on every backend",
        )
    elif facts.chooses_backend and facts.backend_name == "tensorflow" and engine.line == 2:
        assert facts.backend is not None
        yield refuse(
            NAME,
            facts.backend.file,
            facts.backend.node,
            "the script is written for Keras 3",
            f"{engine.title} shares out networks within the code of tf.keras 2, and Keras 3 deals "
            "data to several processes by the container that they come in",
            "use the engine mirrored, for several devices of one process; or Keras 3 on JAX",
        )
    elif facts.backend is None and engine.line is None:
        yield Note(
            rule=NAME,
            place=facts.script.place(facts.script.tree.body[0]),
            what=f"start it with KERAS_BACKEND={engine.backend}",
            why="the script leaves the backend to the environment; on another one it ends with a "
            "message",
        )
    elif facts.backend is not None and facts.backend_name == "torch":
        yield refuse(
            NAME,
            facts.backend.file,
            facts.backend.node,
            "the script runs Keras on torch",
            "there Keras has an optimizer, losses, metrics, batch normalisation and random numbers "
            "of its own: DistributedDataParallel around its networks would "
            "average gradients, and leave all else to each worker's share of a batch",
            'set os.environ["KERAS_BACKEND"] = "jax" before Keras is imported: the same layers, '
            "from other first weights, and exact on any number of devices",
        )
    elif facts.backend is not None and facts.backend_name not in ("", engine.backend):
        yield refuse(
            NAME,
            facts.backend.file,
            facts.backend.node,
            f"the script runs Keras on {facts.backend_name}",
            f"{engine.title} trains on {engine.backend}, where the same seed gives other weights",
            f'import keras, and set os.environ["KERAS_BACKEND"] = "{engine.backend}" before that, '
            f"if you want to train on it; or convert it for an engine that is for "
            f"{facts.backend_name}",
        )
