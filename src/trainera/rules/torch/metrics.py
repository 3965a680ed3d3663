"""A figure of a slice becomes the figure of the batch before anyone sees it.

**What.** Where a value of one worker's slice would be printed, logged, compared or stored,
`loader.mean(…)`, `loader.sum(…)` or `loader.gather(…)` is put around it; around a tuple or dict
of such values `loader.combine(…)`.

**Why.** Nobody wants the loss of one worker's share. And a decision (stop early, keep the best,
lower the learning rate) taken from it would be taken differently by different workers, which
hangs the run.

**Example.**

    -     losses.append(loss.item())
    +     losses.append(train_loader.mean(loss.item()))

**Safety.** Every worker gets the same bits. A mean is weighted by the slices' sizes, counts are
added, rows are put together in the order of the batch.

**Limits.** One exchange for every value and step; running totals do better (see `tally`).
"""

from collections.abc import Iterator

from trainera.engines.base import CREW, Engine
from trainera.plan import Options
from trainera.read.facts import Facts, by_node
from trainera.rules.torch._tools import Finding, Words, edit, refuse, wrap

NAME = "metrics"

REFUSALS = {
    "names-at-run-time": Words(
        what="variables are reached by names that the analysis cannot follow",
        why="some of them are of one worker's share of the batch",
        do="name the variables in the code itself",
    ),
    "object-handed-over": Words(
        what="an object that holds something of a batch is kept or handed over here",
        why="what is done with it there cannot be seen",
        do="keep or hand over the values themselves",
    ),
    "share": Words(
        what="a value of one worker's share is used here",
        why="{why}",
        do="{do}",
    ),
}
REASONS = {
    "combine": "each part made whole: the mean, the sum or the rows of the whole batch",
    "mean": "the mean over the whole batch, not over one worker's slice",
    "sum": "the sum over the whole batch, not over one worker's slice",
    "gather": "the rows of the whole batch, in order, not one worker's slice",
    "gather_picked": "the rows that were picked of the whole batch, in order",
}


def plan(facts: Facts, engine: Engine, options: Options) -> Iterator[Finding]:
    plain = {node for _, node in facts.plain}
    for node, records in by_node(facts.escapes):
        forms = {(record.method, record.text, record.how) for record in records}
        record = next(iter(records))
        if len(forms) > 1 or node in plain or facts.also_without(node, facts.escapes):
            yield refuse(
                NAME,
                record.file,
                node,
                "this code is given shares of a batch and whole values",
                "which of them it works on cannot be told here",
                "call it with one kind of value only",
            )
            continue
        method, text, how = forms.pop()
        template = f"{text}.{method}({{}}, {how})" if how else f"{text}.{method}({{}})"
        yield edit(NAME, record.file, node, wrap(template), REASONS[method], (CREW,))
