"""Decisions that hang on the clock or on files are the first worker's.

**What.** A condition that reads the clock or the file system is put into `crew.agree(…)`; likewise
a generator that seeds itself, and the items of a set where they are taken one after the other. With
`--random own` a number that torch draws once for a batch, too, also inside of a network that leaves
out layers by chance.

**Why.** `if os.path.exists("last.pt")` may be true for a worker that comes a moment later;
`if time.time() > limit` differs by microseconds. Workers that take different branches hang. A set
of strings has another order in every process, so that words would get other numbers.

**Example.**

    - if os.path.exists("last.pt"):
    + if crew.agree(os.path.exists("last.pt")):

Where a comprehension, or `filter`, picks files, the workers agree on all that it gives, at once:

    - names = [f for f in os.listdir(root) if os.path.isfile(os.path.join(root, f))]
    + names = crew.agree([f for f in os.listdir(root) if os.path.isfile(os.path.join(root, f))])

What is seen in printed text only needs no agreement, because one worker prints: how a time is
written, how wide a progress bar is. All uses of such a value are followed, through the script's own
functions; a test that may skip an exchange, and whatever is learned or saved, is agreed on.

**Safety.** All workers take the branch that the first one would take.

**Limits.** A comprehension that makes more than names of what it picks, such as tensors or data
sets, asks for each item: an object that is sent to another worker would be a copy.

With `--random own` a line that draws numbers for the samples of a batch in one call of its
function, and for all workers alike in another, is refused: workers must agree on the latter, and
must not on the former. Two functions do.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts
from trainera.read.interpret.agreement import ALONE
from trainera.read.libraries.randomness import BY_CHANCE
from trainera.read.libraries.sets import SET_ORDER
from trainera.read.libraries.side_effects import CLOCK, TERMINAL
from trainera.rules.torch._decoration import Decoration
from trainera.rules.torch._tools import Finding, Words, edit, refuse, spots, wrap

NAME = "agree"

REFUSALS = {
    "filled-by-chance": Words(
        what="a tensor is filled with random numbers in the loop over batches",
        why="by '{name}' each worker would put others into it, and go on with them",
        do="draw them with torch.randn_like or torch.rand_like and add or copy them",
    ),
    "hash": Words(
        what="hash() is used",
        why="it gives another number for a string in every process",
        do="use zlib.crc32 of the encoded string",
    ),
    "item-of-set": Words(
        what="some item is taken out of a set",
        why="which one differs from worker to worker",
        do="use a list, or sort the set first",
    ),
    "seeded-by-chance": Words(
        what="the random numbers are seeded anew by chance",
        why="each worker would draw others, and build and split differently",
        do="give a number as the seed, or leave the call out",
    ),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    text = Decoration(facts)
    for node, found in spots(facts.agree.values()).items():
        what = {spot.what for spot in found}
        if options.random == "exact" and what == {BY_CHANCE.what}:
            continue  # all draw the same anyway
        if facts.also_without(node, facts.agree):
            yield refuse(
                NAME,
                found[0].file,
                node,
                "numbers are drawn here for the samples of a slice, and elsewhere for the batch",
                "workers would have to agree on these, and must not on those",
                "draw them in two places",
            )
            continue
        if what <= {CLOCK, TERMINAL} and text.is_all(found[0].node, found[0].file):
            continue
        template = "crew.agree({})"
        if SET_ORDER in what:
            template = "crew.agree(list({}))"
        elif ALONE in what:
            template = "crew.agree(bool({}))"
        reason = f"all workers follow the first one's answer: {found[0].what} may differ"
        if facts.makes_batches and what == {BY_CHANCE.what}:
            template = "crew.drawn(lambda: {})"
            reason = "the same numbers for all workers, as if there was but one"
        yield edit(NAME, found[0].file, node, wrap(template), reason, (CREW,))
