"""The loss of a slice counts in proportion to the slice.

**What.** `loss.backward()` becomes `(loss * loader.share).backward()`.

**Why.** The engine averages over workers, not over samples. Where slices are equal that is the
same. In a short last batch they are not: the loss of k out of n samples on N workers counts k·N/n.
A loss that is a sum over samples counts N, because averaging would divide it by N.

**Example.**

    -     loss.backward()
    +     (loss * train_loader.share).backward()

**Safety.** `share` is 1.0 for equal slices; the value of `loss` itself is not changed.

**Other losses.** One over class weights or unignored targets is brought to a mean over samples (see
`by-weight`). One that is neither a mean nor a sum, say the root of a mean, a ratio of sums, or one
that compares the samples of a batch with each other, is computed by every worker from the whole
batch's values (`loader.mean`, `loader.sum`, `loader.gather`). Gradients flow back through those to
the part of each worker, so that such a loss counts as it is:

    -     loss = torch.sqrt(criterion(model(x), y))
    +     loss = torch.sqrt(loader.mean(criterion(model(x), y)))

**Several networks.** Each backward pass of a step, as for the two networks of a GAN, may be of
other calls of the networks; where it is of one that an earlier pass was of, see `wrap`. Random
numbers that a network is given, as many as the script says and not one row for each sample, are the
same on every worker: each computes all that comes of them, such a loss counts as it is, and a note
says so. If that goes for every loss, nothing would be shared out, and the script is refused.

**Limits.** What a library draws by itself from torch's
random numbers, in a loss of the whole batch, each worker draws for itself. Gradients that
`torch.autograd.grad` computes with respect to the samples are weighed as well, so that each sample
has the one that it has in the sequential script; with respect to parameters they are refused, and
so is `.grad` of a batch.
"""

import ast
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Note, Options
from trainera.read.facts import Backward, Facts, by_node
from trainera.read.values import Blend, Gathered, Lost, Mean, Shard, Share, Sum
from trainera.rules.torch._tools import Finding, Words, edit, refuse, wrap

NAME = "weight"

REFUSALS = {
    "changed-in-place": Words(
        what="a part of a batch is changed in place",
        why="what '{name}' does to a slice is not known",
        do="use a function that gives a new tensor",
    ),
    "gradient-of-batch": Words(
        what="the gradient with respect to the batch itself is read from .grad",
        why="backward() leaves there what is to be averaged over the workers, which is larger",
        do="compute it with torch.autograd.grad(loss, x)[0]",
    ),
    "gradients-by-hand": Words(
        what="gradients are computed by torch.autograd.grad",
        why="they would be those of one worker's slice: only backward() has them averaged",
        do="use backward(), or train this script on one worker",
    ),
    "holds-rows": Words(
        what="a tensor is made to hold the rows of a batch",
        why="after '{name}' it would hold those of the whole batch on every worker",
        do="make a new tensor for each batch",
    ),
    "library-changed": Words(
        what="a name of a library is given another meaning",
        why="what a call of it does can no longer be told",
        do="call the function by a name of its own",
    ),
    "loss-changed": Words(
        what="the loss function is changed after it was made",
        why="how it reduces can no longer be told",
        do="give the loss its arguments when it is made",
    ),
    "rows-by-number": Words(
        what="rows of a batch are changed by their number",
        why="a row of a worker's slice has another number in the batch",
        do="change all rows at once, or choose them by a mask: torch.where(mask, one, other)",
    ),
    "rows-do-not-fit": Words(
        what="rows of the whole batch are written into a worker's slice",
        why="the slice has fewer rows",
        do="make a new tensor of both: torch.where(mask, one, other), or torch.cat",
    ),
}


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    everyones = [one for one in facts.backwards.values() if _is_all_by_everyone(one, facts)]
    shared = len(everyones) < len(facts.backwards)
    for _, records in by_node(facts.backwards):
        reached = [one for one in records if isinstance(one.kind, Share | Gathered)] or list(
            records
        )
        problems = [found for one in reached if (found := _problem(one, facts, engine))]
        if problems:
            yield problems[0]
            continue
        forms = {(type(record.kind), record.text) for record in reached}
        record = reached[0]
        if len(forms) > 1:
            yield refuse(
                NAME,
                record.file,
                record.node,
                "this step is run on losses of different kinds",
                "a mean and a sum over the batch have different weights",
                "give each kind of loss a training step of its own",
            )
            continue
        kind, text = forms.pop()
        if kind is Gathered:
            # Every worker has the loss of the whole batch, and its gradients reach all.
            if record in everyones:
                yield _by_everyone(record, shared)
            continue
        name = engine.mean_weight if kind is Mean else engine.sum_weight
        weight = "crew.size()" if kind is Blend else f"{text}.{name}"
        template = f"{{}} * {weight}"
        if record.value is _receiver(record.node):
            template = f"({template})"
        reason = (
            "the engine averages over workers: a slice of k of n samples counts k·N/n"
            if kind is Mean
            else "the engine averages over workers, but this loss is a sum over samples"
        )
        yield edit(NAME, record.file, record.value, wrap(template), reason, (CREW,))
    if engine.wraps:
        yield from _several_in_a_step(facts)


def _is_all_by_everyone(record: Backward, facts: Facts) -> bool:
    """Whether every network that the loss comes from was given the same on every worker."""
    if not isinstance(record.kind, Gathered) or not record.kind.models:
        return False
    functions = {node for _, node in facts.alike}
    calls = [call for _, _, call in record.kind.models]
    return all(isinstance(call, ast.Call) and call.func in functions for call in calls)


def _by_everyone(record: Backward, shared: bool) -> Finding:
    """Right, but no faster: worth it only if other losses are shared out."""
    what = "this loss is computed by every worker, all of it"
    why = "the network is given a number of rows that is not the batch's"
    if shared:
        why = f"{why}: more workers make it no faster"
        return Note(rule=NAME, place=record.file.place(record.node), what=what, why=why)
    do = "give the network one row for each sample: x.size(0) instead of a fixed batch size"
    return refuse(NAME, record.file, record.node, what, f"{why}: nothing would be shared out", do)


def _receiver(call: ast.Call) -> ast.expr:
    assert isinstance(call.func, ast.Attribute)
    return call.func.value


def _problem(record: Backward, facts: Facts, engine: TorchEngine) -> Finding | None:
    kind = record.kind
    do = "use a loss that is a mean or a sum over the samples of the batch"
    if record.loop is None:
        what = "gradients are computed outside of any loop over a DataLoader"
        why = "there is no batch whose samples could be shared out"
        return refuse(NAME, record.file, record.node, what, why, "draw batches from a DataLoader")
    if isinstance(kind, Lost):
        what = "the loss cannot be split over workers"
        return refuse(NAME, record.file, record.node, what, kind.why, do)
    if not isinstance(kind, Mean | Sum | Blend) and not (
        isinstance(kind, Gathered) and kind.models
    ):
        what = "how this loss depends on the batch cannot be seen"
        why = "it is no mean or sum over samples that the analysis could follow"
        if isinstance(kind, Shard):
            what, why = "the loss is not reduced", "its weight in the batch is not known"
        return refuse(NAME, record.file, record.node, what, why, do)
    trained = [through for origin, through, _ in kind.models if origin in facts.trained]
    if not trained:
        what = "no network that an optimizer trains takes part in this loss"
        why = "there is nothing whose gradients could be averaged"
        do = "give the network's parameters to a torch.optim optimizer"
        return refuse(NAME, record.file, record.node, what, why, do)
    if engine.wraps and not all(trained):
        what = "the loss is computed past the network's own call"
        why = "the wrapper averages the gradients of calls of the network only"
        do = "move the computation into forward() and call the network"
        return refuse(NAME, record.file, record.node, what, why, do)
    return None


def _several_in_a_step(facts: Facts) -> Iterator[Finding]:
    """Several backward passes are fine if each is of calls made since the one before.

    The wrapper averages gradients once for every call. What is computed from an older call, or
    from the same call again, it would leave as each worker has it.
    """
    done: dict[tuple[ast.AST, ast.AST], ast.AST] = {}
    for step in facts.steps:
        if not step.backward:
            for call in step.calls:
                done.pop(call, None)
            continue
        over = [done[call] for call in step.calls if call in done and call[0] in facts.trained]
        if any(not _exclusive(earlier, step.node, step.file.parents) for earlier in over):
            yield refuse(
                NAME,
                step.file,
                step.node,
                "a second backward() since the network was called",
                "the wrapper averages gradients once for each call of the network",
                "add the losses up and call backward() once, or call the network again before",
            )
        networks = {origin for origin, _ in step.calls}
        called = {call for other in facts.steps for call in other.calls if not other.backward}
        done |= {call: step.node for call in called if call[0] in networks}


def _exclusive(first: ast.AST, second: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether two nodes stand in different branches of one condition."""
    branches: dict[ast.AST, bool] = {}
    node = first
    while node in parents:
        above = parents[node]
        if isinstance(above, ast.If):
            branches[above] = node in above.orelse
        node = above
    node = second
    while node in parents:
        above = parents[node]
        if isinstance(above, ast.If) and above in branches:
            return branches[above] != (node in above.orelse)
        node = above
    return False
