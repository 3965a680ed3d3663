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
With `tarantella`, where nobody waits, a statement that writes is left to one process
(`np.save("codes.npy", codes) if tnt.is_master_rank() else None`), and networks save by themselves;
what writes in more than one statement is refused.

**Limits.** Calls of libraries that are not known to write are left as they are. Whether a file is
read or written has to stand in the script; where it does not, the script is refused.
"""

import ast
from collections.abc import Iterator

from trainera.engines.keras.base import KerasEngine
from trainera.plan import Options, Through
from trainera.read.keras.effects import unclear_modes, writings
from trainera.read.keras.facts import KerasFacts, Spot
from trainera.read.keras.networks import is_network, network_names
from trainera.read.source.names import Names
from trainera.rules.common._tools import Finding, edit, refuse, wrap

NAME = "once"


def plan(facts: KerasFacts, engine: KerasEngine, options: Options) -> Iterator[Finding]:
    if engine.once is None and engine.only_first is None:
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
    if engine.once is None:
        yield from _statements(facts, engine)
        return
    for spot in writings(facts.files):
        yield edit(
            NAME,
            spot.file,
            spot.node,
            Through(function=engine.once.text),
            "done by the first worker; the others evaluate the arguments and wait",
            engine.once.imports,
        )


def _statements(facts: KerasFacts, engine: KerasEngine) -> Iterator[Finding]:
    """Each is done by one process, and must not ask for what takes all of them."""
    assert engine.only_first is not None
    networks = network_names(facts.files)
    for spot in writings(facts.files):
        assert isinstance(spot.node, ast.Call)
        written_by = spot.node.func
        if isinstance(written_by, ast.Attribute) and is_network(written_by.value, networks):
            continue  # it sees to that itself
        alone = isinstance(spot.file.parents[spot.node], ast.Expr)
        saves = isinstance(written_by, ast.Attribute) and written_by.attr == "save"
        saves = saves and not Names(spot.file).of(written_by)  # a network by another name?
        if alone and not saves and not _asks_network(spot, networks):
            yield edit(
                NAME,
                spot.file,
                spot.node,
                wrap(engine.only_first.text),
                "done by one process: all of them run the script",
                engine.only_first.imports,
            )
        else:
            yield refuse(
                NAME,
                spot.file,
                spot.node,
                "a file is written here by more than one plain statement",
                "every process would write it; and if one alone came here, it would wait for ever "
                "where a network needs all of them",
                "first compute what is to be written, then write it in one statement, such as "
                'Path("accuracy.txt").write_text(text)',
            )


def _asks_network(spot: Spot, networks: set[str]) -> bool:
    return any(
        isinstance(node, ast.Attribute) and is_network(node.value, networks)
        for node in ast.walk(spot.node)
    )
