"""Every loader hands each worker its slice of each batch.

**What.** `DataLoader(…)` is put into `crew.split(…)`.

**Why.** The script's own sampler goes on choosing the batches, in the same order, on every worker;
each worker then reads its contiguous slice of the indices and no other sample. So the global batch,
the number of steps, the learning rate and the schedule stay what they were, and any sampler works:
weighted, subset, custom, batch sampler.

**Example.**

    - loader = DataLoader(data, batch_size=128, shuffle=True)
    + loader = crew.split(DataLoader(data, batch_size=128, shuffle=True))

**Safety.** `skip_empty=True` is added for loaders that are only evaluated: a worker without a
sample of the last, short batch skips it. In training it takes part with weight 0 instead, because
the others wait for it. `collate_first=True` is added where the script makes batches by a function
of its own that may look at several samples, e.g. to pad them: the batch is then made as a whole
before it is cut. `watch_lists=True` is added where a field of the batch is added to something or
multiplied by a whole number, straight as it comes from the loader: a tensor computes entry by
entry, but a list of Python's (names, numbers) is joined or repeated, and that of a slice is not a
slice of that. If it is a list, the run ends there.

With `--batch per-worker` every worker reads a batch of its own (`per_worker=True`): a step takes N
batches of the script's at once, and an epoch has as many fewer steps.

What gives the script's own batches one after another is split, too: a generator function of the
script's that picks rows by random numbers or the same parts of several tables, a random order in
parts (`torch.randperm(n).split(32)`), several tables in the same parts
(`zip(xs.split(32), ys.split(32))`). Every worker makes the whole batch, from random numbers that
all share, and takes its rows; that they are rows is tried and compared as `handmade` says.

A loop that asks for its batches by `next(…)`, or is left by `break` while a name still holds its
iterator, is followed by `crew.end_steps()`: what is drawn from there on is drawn for all workers.

**Limits.** An evaluation whose figures cannot be combined over workers keeps its loader whole:
every worker evaluates all of it, which costs time but is right. In training it is refused. A first
batch that is taken ahead of the loops, e.g. to draw it in each epoch, every worker takes whole.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts, LoaderFact, LoopFact
from trainera.read.source.file import SourceFile
from trainera.read.source.syntax import parts_of
from trainera.read.totals import chains, deferrable
from trainera.read.values import Function, Qualified, Value
from trainera.rules.torch._tools import (
    Finding,
    Words,
    after,
    around,
    cannot_grow,
    edit,
    named,
    wrap,
)

NAME = "split"

REFUSALS = {
    "collected": Words(
        what="batches of a loader are collected",
        why="each worker would collect its slices of them, which are no batches",
        do="loop over the loader; a single batch is taken by next(iter(loader))",
    ),
    "cycle": Words(
        what="itertools.cycle keeps the batches of the first pass",
        why="what a slice of a batch that comes again weighs is not known any more",
        do="begin a new pass when one ends: while True: for batch in loader: …",
    ),
    "own-iterator": Words(
        what="a class of the script's own gives batches one by one by __next__",
        why="where one batch ends and the next begins is not seen from the loop",
        do="write __iter__ with yield: for batch in self.loader: yield batch",
    ),
    "loader-given-away": Words(
        what="a library is given the loader",
        why="what it does with the batches cannot be seen",
        do="loop over the loader in the script itself",
    ),
    "some-batches": Words(
        what="a loop goes over batches of a loader, or over something else",
        why="which of them it is, is known only when the script runs",
        do="write a loop for each of them",
    ),
    "two-batches": Words(
        what="two batches of one loader are taken at once",
        why="what a slice weighs is known of the latest batch only",
        do="use the first batch before the next one is taken",
    ),
}
SHOWS = {"print", "set_description", "set_postfix", "set_postfix_str"}
"""Calls that leave nothing behind but what is seen of the first worker, which has samples."""
ROW_BY_ROW = {
    *("zip", "list", "tuple", "stack", "tensor", "as_tensor", "from_numpy", "default_collate"),
    *("LongTensor", "FloatTensor", "Tensor", "array", "asarray", "float", "int", "long", "append"),
    *("map", "dict", "unsqueeze", "double", "str", "bool", "to", "items", "keys", "values"),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    skippable = loaders_that_skip(facts)
    used = frozenset().union(*(loop.loaders for loop in facts.loops.values()))
    watched = frozenset().union(*facts.lists.values())
    for node, loader in facts.loaders.items():
        if node not in used:
            if not loader.ordered:
                yield edit(
                    NAME,
                    loader.file,
                    node,
                    wrap("crew.whole({})"),
                    "every worker reads all of it, in the first worker's order: what is computed "
                    "from it could not be combined over the workers",
                    (CREW,),
                )
            continue
        options_text, extra = "", ""
        if not keeps_rows_apart(loader):
            options_text += ", collate_first=True"
            extra += "; batches are collated whole, then cut, as samples may be padded together"
        if node in skippable:
            options_text += ", skip_empty=True"
            extra += "; a worker without a sample of the last batch skips it"
        if node in watched and not loader.tensors:
            options_text += ", watch_lists=True"
            extra += "; a field that is added to or multiplied must be a tensor, no list"
        reason = (
            "each worker reads its slice of every batch; batches, order and steps stay the same"
        )
        if options.batch == "per-worker" and node in facts.training_loaders:
            if loader.own:
                yield cannot_grow(loader.file, node)
                continue
            options_text += ", per_worker=True"
            reason = "each worker reads a batch of its own: one step takes as many as there are"
        assert isinstance(node, ast.expr)
        yield around(
            NAME,
            loader.file,
            node,
            named("crew.split({}" + options_text + ")", facts.names.get(node)),
            reason + extra,
            (CREW,),
        )
    for node, loops in by_loop(facts).items():
        if all(loop.lingers for loop in loops):
            reason = "the last step is over, and with it what workers draw for themselves"
            yield edit(NAME, loops[0].file, node, after("crew.end_steps()"), reason, (CREW,))
    # A loader that is not looped over is whole already.
    glances = {one.loader: one for one in facts.first_batches.values() if one.loaders & used}
    for node, glance in glances.items():
        yield edit(
            NAME,
            glance.file,
            node,
            wrap("crew.whole({})"),
            "this batch may be looked at again when others have come: every worker takes all of it",
            (CREW,),
        )


def by_loop(facts: Facts) -> dict[ast.AST, list[LoopFact]]:
    """What is known of each loop, one record for each way its function is called."""
    found: dict[ast.AST, list[LoopFact]] = {}
    for loop in facts.loops.values():
        found.setdefault(loop.node, []).append(loop)
    return found


def loaders_that_skip(facts: Facts) -> frozenset[ast.AST]:
    """Loaders whose every loop goes on without a worker that has no sample."""
    waiting = deferrable(facts)
    at_once = {facts.tallies[key].loop for key in facts.tallies if key not in waiting}
    totals: dict[ast.AST, set[str]] = {}
    for key in waiting:
        totals.setdefault(facts.tallies[key].loop, set()).add(facts.tallies[key].name)
    needs_all: set[ast.AST] = set()
    for loop in facts.loops.values():
        if (
            loop.training
            or loop.collective
            or not loop.evaluating
            or loop.node in at_once
            or not isinstance(loop.node, ast.For)
            or _leaves_traces(loop.node, loop.file, totals.get(loop.node, set()))
        ):
            needs_all |= loop.loaders
    for escape in facts.escapes.values():
        needs_all |= escape.loaders  # also after the loop, where the last batch is looked at
    return frozenset(facts.loaders) - needs_all


def _leaves_traces(loop: ast.For, file: SourceFile, totals: set[str]) -> bool:
    """Whether it shows after a loop how often it was run, apart from totals that are added up.

    A worker that leaves out a round would count one less than the others, and decide by that.
    """
    found = chains(file)
    for part in parts_of(loop):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            later = any(not file.within(use, loop) for use in found.uses(part))
            if part.id not in totals and (later or part.id in found.declared):
                return True
        elif isinstance(part, ast.Attribute | ast.Subscript) and isinstance(part.ctx, ast.Store):
            return True
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            called = part.value.func
            if ast.unparse(called).rpartition(".")[2] not in SHOWS:
                return True
    return not found.followed


def keeps_rows_apart(loader: LoaderFact) -> bool:
    """Whether a batch is made sample by sample, so that a slice can be made alone."""
    collate: Value | None = loader.collate
    if collate is None:
        return True
    if isinstance(collate, Qualified):
        return collate.name.endswith("default_collate")
    if not isinstance(collate, Function):
        return False
    parameters = {parameter.arg for parameter in collate.node.args.args}
    for node in ast.walk(collate.node):
        if isinstance(node, ast.If | ast.IfExp) or (
            isinstance(node, ast.comprehension) and node.ifs
        ):
            return False
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
            if node.value.id in parameters:
                return False  # it looks at samples by their place in the batch
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else None
            called = node.func.id if isinstance(node.func, ast.Name) else called
            if called not in ROW_BY_ROW:
                return False
    return True
