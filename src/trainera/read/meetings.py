"""Which values may not meet: batches of two loaders, a slice and rows of the whole batch."""

import ast

from trainera.read.inside import flat
from trainera.read.kinds import Kind, Lost, Own, Shard, Share, Whole

UNEVEN = "slices that stand one after the other meet others that do not"


def mixed(*kinds: Kind) -> Lost | None:
    """A share of two different loaders' batches has no one weight."""
    kinds = tuple(inner for kind in kinds for inner in flat(kind))
    shares = [kind for kind in kinds if isinstance(kind, Share)]
    for share in shares:
        if isinstance(share, Lost):
            return share
    for kind in kinds:
        if isinstance(kind, Own) and shares and "random" in kind.what:
            why = "random numbers that are drawn once for the batch would differ over workers"
            return Lost(shares[0].loaders, why)
    if len({share.loaders for share in shares}) > 1:
        loaders = frozenset().union(*(share.loaders for share in shares))
        return Lost(loaders, "it mixes the batches of two loaders, whose slices differ in weight")
    return None


def meets_rows(*kinds: Kind) -> Whole | None:
    """Rows of the whole batch that a slice would meet: they do not fit each other."""
    inside = [inner for kind in kinds for inner in flat(kind)]
    if not any(isinstance(kind, Shard) for kind in inside):
        return None
    return next((kind for kind in inside if isinstance(kind, Whole) and kind.rows), None)


def recombined(rows: Whole) -> Lost:
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
