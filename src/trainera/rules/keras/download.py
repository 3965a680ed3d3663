"""What is downloaded is downloaded by one worker, and then read by all.

**What.** `keras.utils.get_file(…)`, `keras.datasets.mnist.load_data()` and their like go through
`crew.in_turn(…)`.

**Why.** Each looks whether its file is there and fetches it if not. Several workers that do so at
once write over each other.

**Example.**

    -(x, y), test = keras.datasets.mnist.load_data()
    +(x, y), test = crew.in_turn(keras.datasets.mnist.load_data)

**Safety.** The first worker calls it while the others wait; then they call it, too, and find the
file. If it fails, all fail.

**Limits.** With an engine in which nobody waits, `tarantella`, nothing is changed, and it is said.
On several machines that do not share a disk, the first worker of each other machine
fetches at once with its neighbours.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Note, Options, Through
from trainera.read.keras.effects import fetches
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._tools import Finding, edit

NAME = "download"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if engine.in_turn is None:
        for spot in fetches(facts.files) if engine.only_first is not None else ():
            yield Note(
                rule=NAME,
                place=spot.file.place(spot.node),
                what="every process looks for these data, and fetches them if they are not there",
                why="several that fetch at once write over each other: fetch them once before",
            )
        return
    for spot in fetches(facts.files):
        yield edit(
            NAME,
            spot.file,
            spot.node,
            Through(function=engine.in_turn.text),
            "fetched by the first worker; the others find it there",
            engine.in_turn.imports,
        )
