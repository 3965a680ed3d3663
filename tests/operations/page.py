"""A table of all operations, for the documentation."""

from collections import Counter

import torch

from tests.operations.cases import MEAN, MIXES, ROW_WISE, SAME, SUM
from tests.operations.judge import BAD, GATHERED, REFUSED, TAKEN, WHOLE, Outcome
from tests.operations.tally import groups
from tests.operations.work import Choice

TITLES = {
    "functions": "Functions, methods and operators of torch",
    "layers": "Layers",
    "forms": "Sizes, operators, indexing and losses",
    "numpy": "numpy on rows of a batch",
}
HEAD = """\
# Operations

What trainera does with each operation of torch {version} when it is given rows of a batch.

```
{command}
```

writes this page: it tries each operation in small training scripts, and compares what a converted
script prints and learns with what the sequential one does.

An operation is *row-wise* if what it makes of a slice of the batch is that slice of what it makes
of the whole; *sum* and *mean* if the slices' results add up or average to the whole's; *replicated*
if it does not depend on the rows; else it *mixes rows*. Most are one or the other by their
arguments, so the table counts cases. Row-wise cases are best *taken*: each worker computes its own
rows. *Gathered* means that every worker computes the whole batch's value, which is right for what
mixes rows. *Refused* scripts are not converted.
"""


def page(outcomes: list[Outcome], choice: Choice) -> str:
    words = ["python -m tests.operations --write docs/operations.md", f"--limit {choice.limit}"]
    if choice.every > 1:
        words.append(f"--sample-every {choice.every}")
    if choice.seed:
        words.append(f"--seed {choice.seed}")
    version = ".".join(torch.__version__.split("+")[0].split(".")[:2])
    parts = [HEAD.format(version=version, command=" ".join(words))]
    bad = sum(outcome.verdict in BAD for outcome in outcomes)
    parts.append(f"{len(outcomes)} cases, of which {bad} are wrong or crash.\n")
    for family, found in groups(outcomes, lambda outcome: outcome.family).items():
        parts.append(f"## {TITLES[family]}\n")
        parts.append(_head())
        entries = groups(found, lambda outcome: outcome.entry)
        parts += [_line(name, entries[name]) for name in sorted(entries)]
        parts.append(_line("**all**", found) + "\n")
    return "\n".join(parts)


def _head() -> str:
    first = "| operation | along the batch | row-wise: taken | gathered | refused "
    second = "| others: right | refused | wrong |"
    return first + second + "\n|---|---|--:|--:|--:|--:|--:|--:|"


def _line(name: str, outcomes: list[Outcome]) -> str:
    truths = {outcome.truth for outcome in outcomes}
    along = ", ".join(word for word in (ROW_WISE, SUM, MEAN, MIXES, SAME) if word in truths)
    apart = Counter(o.verdict for o in outcomes if o.truth == ROW_WISE)
    others = Counter(o.verdict for o in outcomes if o.truth != ROW_WISE)
    bad = sum(outcome.verdict in BAD for outcome in outcomes)
    cells = [
        apart[TAKEN],
        apart[GATHERED] + apart[WHOLE],
        apart[REFUSED],
        others[TAKEN] + others[GATHERED] + others[WHOLE],
        others[REFUSED],
        bad,
    ]
    title = name if name.startswith("*") else f"`{name}`"
    return f"| {title} | {along} | " + " | ".join(str(cell or "") for cell in cells) + " |"
