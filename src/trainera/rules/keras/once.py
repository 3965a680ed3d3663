"""Files are written by one worker.

**What.** `open(…, "w")`, `os.makedirs(…)`, `np.save(…)`, `plt.savefig(…)`, `frame.to_csv(…)` and
their like go through `crew.once(…)`.

**Why.** Every worker runs the whole script. Several workers that write one file spoil it. All
evaluate the arguments, the first one acts, and the others wait until it is done.

**Example.**

    -np.save("codes.npy", codes)
    +crew.once(np.save, "codes.npy", codes)

**Safety.** What the call returns is, on the other workers, an object that takes every call and does
nothing, so `with crew.once(open, path, "w") as file:` works unchanged. What Keras and TensorFlow
write themselves (`save_weights`, checkpoints, the files of callbacks) the runtime has the first
worker do, whoever calls it. With an engine of one process nothing is changed.

**Limits.** Calls of libraries that are not known to write are left as they are. Whether a file is
read or written has to stand in the script; where it does not, the script is refused.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options, Through
from trainera.read.keras.effects import unclear_modes, writings
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._tools import Finding, edit, refuse

NAME = "once"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if engine.once is None:
        return
    for spot in unclear_modes(facts.files):
        yield refuse(
            NAME,
            spot.file,
            spot.node,
            "whether this file is read or written is not known",
            "all workers may read it, but only one may write it",
            "give the mode as a constant",
        )
    for spot in writings(facts.files):
        yield edit(
            NAME,
            spot.file,
            spot.node,
            Through(function=engine.once.text),
            "done by the first worker; the others evaluate the arguments and wait",
            engine.once.imports,
        )
