"""Running totals are added up over the workers.

**What.** A total that is only looked at after the loop is kept by each worker for its own slices
and added up once, by `crew.sum(…)` after the loop. A sum of batch means is kept with each slice's
`fraction` of the batch.

**Why.** `correct += …` counts one worker's samples; `running_loss += loss.item()` adds up means
over slices. Added up over the workers, both are what the sequential loop counts.

**Example.**

    -         running_loss += loss.item()
    +         running_loss += loss.item() * train_loader.fraction
    +     running_loss = crew.sum(running_loss)

**Safety.** Done only if the total starts at zero before the loop and nothing in the loop reads it;
otherwise each addend is combined at once (see `metrics`). `active` is False on a worker that
stands in for a sample it does not have.

**Limits.** One exchange a loop for all totals together.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts, Tally
from trainera.read.source.syntax import is_factor
from trainera.read.totals import deferrable
from trainera.read.values import Mean
from trainera.rules.torch._tools import Finding, after, edit, refuse, wrap
from trainera.rules.torch.split import loaders_that_skip

NAME = "tally"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    waiting = deferrable(facts)
    skip = loaders_that_skip(facts)
    by_statement: dict[ast.AST, list[tuple[Tally, bool]]] = defaultdict(list)
    for key, tally in facts.tallies.items():
        by_statement[tally.node].append((tally, key in waiting))
    totals: dict[ast.AST, list[Tally]] = defaultdict(list)
    for statement, found in by_statement.items():
        tally, waits = found[0]
        forms = {(type(t.share) is Mean, t.text, w) for t, w in found}
        if len(forms) > 1:
            yield refuse(
                NAME,
                tally.file,
                statement,
                "this total adds up means in one call and sums in another",
                "the two are combined over workers in different ways",
                "use a function of its own for each",
            )
            continue
        template, reason = _addend(tally, waits, tally.share.loaders <= skip)
        if template:
            yield edit(NAME, tally.file, tally.value, wrap(template), reason, (CREW,))
        if waits and tally.name not in {other.name for other in totals[tally.loop]}:
            totals[tally.loop].append(tally)
    for loop, tallies in totals.items():
        names = ", ".join(tally.name for tally in tallies)
        yield edit(
            NAME,
            tallies[0].file,
            loop,
            after(f"{names} = crew.sum({names})"),
            "the totals of all workers' slices, added up once after the loop",
            (CREW,),
        )


def _addend(tally: Tally, waits: bool, skips: bool) -> tuple[str, str]:
    value = "{}" if is_factor(tally.value) else "({})"
    is_mean = isinstance(tally.share, Mean)
    if not waits:
        method = "mean" if is_mean else "sum"
        return (
            f"{tally.text}.{method}({{}})",
            "the whole batch's figure: this total is read at once",
        )
    if is_mean:
        return f"{value} * {tally.text}.fraction", "a slice's mean counts by its part of the batch"
    if skips:
        return "", ""
    return f"{value} * {tally.text}.active", "nothing is counted where a worker had no sample"
