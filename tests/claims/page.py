"""Writes `docs/operations.md`: what is known of each operation, and how its claims fared."""

import torch

from tests.claims.judge import GUARDED, MISSED, NO_CLAIM, NO_FIT, RIGHT, UNKNOWN, WRONG, Tally
from trainera.read.libraries.numpy import NUMPY
from trainera.read.libraries.torch.operations import TORCH, operation

HEAD = """# Operations

Written by `python -m tests.claims --write docs/operations.md`: every operation of torch's own
database of operators that the table knows, and how often what it claims held when the operation
was run whole and on unequal slices. Each dimension of a tensor was taken for the batch, other
tensors for parts of it or for tensors that all workers have; the rank was known, or not.

- **right**: slices give what was claimed. **wrong**: they do not.
- **guarded**: right unless rows meet all others by broadcasting; workers see that as they run.
- **do not fit**: a slice cannot be computed, so nothing goes wrong in silence.
- **gathered**: no claim where rows are combined, or may be. **needlessly**: though, with the rank
  known, they are not.
"""


def page(tally: Tally, most: int) -> str:
    """The page, the same for the same claims and the same torch."""
    tried = {name for name, verdict in tally.counts if verdict != UNKNOWN}
    tallied = sum(tally.counts.values()) - tally.total(UNKNOWN)
    right, missed = tally.total(RIGHT), tally.total(MISSED)
    ranked = sum(": " in line and ", rank: " in line for line in tally.lines.get(RIGHT, []))
    lines = [
        HEAD,
        f"{tally.total(WRONG)} wrong, {right} right, {tally.total(GUARDED)} guarded, "
        f"{tally.total(NO_FIT)} that do not fit. Of what is row by row, with the rank known, "
        f"{ranked / max(ranked + missed, 1):.1%} is taken as such.",
        "",
        f"These are {tallied} claims about {len(tried)} operations, from at most {most} samples of "
        f"each in the database of torch {torch.__version__.partition('+')[0]}. What is row by row "
        "is found by cutting a sample, which may be too small to tell: distinct entries are unique "
        "in every slice, and a batch of four can be enlarged in halves.",
        "",
        f"The table has {len(list(TORCH))} operations of torch and {len(list(NUMPY))} of numpy.",
        "",
        "| operation | family | right | wrong | guarded | do not fit | gathered | needlessly |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in sorted({name for name, _ in tally.counts}):
        known = operation(f"torch.{name}")
        if known is None or tally.counts[name, UNKNOWN]:
            continue
        verdicts = (RIGHT, WRONG, GUARDED, NO_FIT, NO_CLAIM, MISSED)
        counts = " | ".join(str(tally.counts[name, verdict]) for verdict in verdicts)
        family = known.rule.__module__.rsplit(".", 1)[-1]
        lines.append(f"| `{name}` | {family} | {counts} |")
    without = sorted({name for name, verdict in tally.counts if verdict == UNKNOWN})
    lines += ["", "Not tried here (no entry, or a sample in another order of arguments):", ""]
    lines.append(", ".join(f"`{name}`" for name in without) + ".")
    return "\n".join(lines) + "\n"
