"""What each process would have for itself is the first worker's for all.

**What.** `crew.agree(…)` goes around `tempfile.mkdtemp()`, `uuid.uuid4()` and their like, and
around clocks whose time reaches more than printed text.

**Why.** Every worker runs the whole script, and all have to take the same path through it. A time
that decides when to stop, or a name made of it, would be another one on each worker.

**Example.**

    -folder = "runs/" + datetime.now().strftime("%H%M%S")
    +folder = "runs/" + crew.agree(datetime.now()).strftime("%H%M%S")

**Safety.** An agreement where none is needed costs a millisecond and changes nothing. With an
engine that has no such call, `tarantella`, the script is refused.

**Limits.** Clocks whose time is only subtracted and shown are left alone. Random numbers need no
agreement: all workers draw from the same seed, also where the script sets none.
"""

from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options
from trainera.read.keras.effects import own_values
from trainera.read.keras.facts import KerasFacts
from trainera.rules.common._tools import Finding, edit, refuse, wrap

NAME = "agree"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if engine.agree is None:
        yield from _apart(facts, engine)
        return
    for spot in own_values(facts.files):
        yield edit(
            NAME,
            spot.file,
            spot.node,
            wrap(engine.agree.text),
            "each worker would have another one: all take the first worker's",
            engine.agree.imports,
        )


def _apart(facts: KerasFacts, engine: KerasEngine) -> Iterator[Finding]:
    for spot in own_values(facts.files) if engine.only_first is not None else ():
        yield refuse(
            NAME,
            spot.file,
            spot.node,
            "each process would have another value here",
            f"all of them run the script, and {engine.title} does not tell them one's value",
            "take a value that stands in the script or among its arguments",
        )
