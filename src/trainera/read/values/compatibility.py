"""Which values may not meet: batches of two loaders, a slice and rows of the whole batch."""

import ast

from trainera.read.values import Gathered, Lost, PerWorker, Shard, Share, Value
from trainera.read.values.contents import flat

UNEVEN = "slices that stand one after the other meet others that do not"


def mixed(*values: Value) -> Lost | None:
    """A share of two different loaders' batches has no one weight."""
    values = tuple(inner for value in values for inner in flat(value))
    shares = [value for value in values if isinstance(value, Share)]
    for share in shares:
        if isinstance(share, Lost):
            return share
    for value in values:
        if isinstance(value, PerWorker) and shares and "random" in value.what:
            why = "random numbers that are drawn once for the batch would differ over workers"
            return Lost(shares[0].loaders, why)
    if len({share.loaders for share in shares}) > 1:
        loaders = frozenset().union(*(share.loaders for share in shares))
        return Lost(loaders, "it mixes the batches of two loaders, whose slices differ in weight")
    return None


def meets_rows(*values: Value) -> Gathered | None:
    """Rows of the whole batch that a slice would meet: they do not fit each other."""
    inside = [inner for value in values for inner in flat(value)]
    if not any(isinstance(value, Shard) for value in inside):
        return None
    return next((value for value in inside if isinstance(value, Gathered) and value.rows), None)


def recombined(rows: Gathered) -> Lost:
    """What becomes of a slice that meets them where it cannot be made whole."""
    why = "samples are recombined, as in mixup: a slice meets rows of the whole batch"
    return Lost(rows.loaders, f"{why}{needed_at(rows.made)}")


def needed_at(node: ast.AST | None) -> str:
    """Which line needs the whole batch's value of what."""
    if node is None:
        return ""
    line = getattr(node, "lineno", "?")
    text = ast.unparse(node)
    text = text if len(text) <= 40 else f"{text[:37]}..."
    return f", line {line} needs '{text}' of the whole batch"
