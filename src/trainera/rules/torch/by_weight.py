"""A loss that is a mean over class weights or over unignored targets is weighed by those.

**What.** The call of such a loss is put into `loader.by_weight(…)`, together with its targets.

**Why.** `CrossEntropyLoss(weight=…)` and `ignore_index=…` divide by the weights of the targets they
meet, and a slice may meet fewer than its part of them. So the loss of a slice is scaled by its part
of the batch's weight over its part of the samples; from there on it counts like any other mean.

A loss that is added to one of another loader's batch is weighed by its part of its own batch,
`loader.fraction`, for the two loaders' slices may differ in size.

**Example.**

    - loss = criterion(model(x), y)
    + loss = loader.by_weight(criterion(model(x), y), y, of=criterion)

**Safety.** One exchange of one number a step. On a single worker the loss is left as it is.

**Limits.** The targets must be given by position and must be an expression that can be repeated.
That targets contain -100, which is ignored by default, is only known if the script says so.
"""

from collections.abc import Iterator

from trainera.engines.base import CREW
from trainera.engines.torch.base import TorchEngine
from trainera.plan import Options
from trainera.read.facts import Facts, by_node
from trainera.rules.torch._tools import Finding, edit, refuse, wrap

NAME = "by-weight"


def plan(facts: Facts, engine: TorchEngine, options: Options) -> Iterator[Finding]:
    plain = {node for _, node in facts.plain}
    for node, records in by_node(facts.weighed):
        record = next(iter(records))
        forms = {other.template for other in records}
        if node in plain or len(forms) > 1 or facts.also_without(node, facts.weighed):
            both = "weighed by its targets or not, by what is chosen"
            if node in plain:
                both = "computed from slices of batches and from whole ones"
            yield refuse(
                NAME,
                record.file,
                node,
                f"this loss is {both}",
                "which of them it works on cannot be told here",
                "compute the two in functions of their own",
            )
            continue
        reason = "its mean is over class weights or unignored targets: a slice counts by those"
        if record.blended:
            reason = "added to a loss of another loader: each counts by its part of its own batch"
        yield edit(NAME, record.file, node, wrap(record.template), reason, (CREW,))
