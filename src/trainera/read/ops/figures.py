"""The algebra of figures: what becomes of sums, means and numbers of samples.

A mean times a count is a sum, a sum over a count is a mean, the mean of ``x + c`` is the mean of x,
plus c. Where this has no answer, the caller asks for the whole batch's value instead.
"""

from collections.abc import Sequence
from dataclasses import replace

from trainera.read.ops.elementwise import combine
from trainera.read.ops.outcome import Mixed, Outcome
from trainera.read.ops.products import product
from trainera.read.values import (
    Blend,
    Count,
    Gathered,
    Mean,
    PerWorker,
    Shard,
    ShardShape,
    Share,
    Sum,
    Value,
    compatibility,
)
from trainera.read.values.base import changed
from trainera.read.values.join import is_zero

SCALING = {"mul": "Mult", "div": "Div", "add": "Add", "sub": "Sub"}
LINEAR = frozenset(
    (
        "item detach cpu cuda to float double half clone numpy mean sum tolist squeeze reshape "
        "view contiguous requires_grad_ type long int unsqueeze retain_grad data astype tensor "
        "as_tensor neg negative"
    ).split()
)
"""Under which a sum or a mean stays what it is."""
CUTS_OFF = ("int", "long", "short", "byte")
ENDS_GRADIENT = frozenset({"detach", "item", "numpy", "tolist", "data", *CUTS_OFF})


def without_gradient(value: Share) -> Share:
    """The value once it has left the graph."""
    return changed(value, models=frozenset())


def with_models(value: Value, *others: Value) -> Value:
    """The value, remembering the networks that the others were computed with."""
    if not isinstance(value, Share):
        return value
    models = value.models.union(
        *(each.models for each in others if isinstance(each, Share | Gathered))
    )
    return changed(value, models=models)


def binary(operator: str, left: Value, right: Value) -> Outcome | None:
    """``left operator right`` where at least one side is a share."""
    lost = compatibility.mixed(left, right)
    if lost or compatibility.meets_rows(left, right):
        return lost
    result = _binary(operator, left, right)
    return with_models(result, left, right) if isinstance(result, Value) else result


def _binary(operator: str, left: Value, right: Value) -> Outcome | None:
    if isinstance(left, PerWorker) or isinstance(right, PerWorker):
        return None  # each worker's own: only the whole may meet it
    if isinstance(left, Shard) or isinstance(right, Shard):
        return _of_rows(operator, left, right)
    if isinstance(left, ShardShape) or isinstance(right, ShardShape):
        return None
    if not isinstance(right, Share):
        assert isinstance(left, Share)
        return _with_plain(operator, left, right)
    if not isinstance(left, Share):
        if operator in ("Add", "Mult") or (operator == "Sub" and isinstance(right, Mean)):
            return _with_plain(operator, right, left)
        if operator == "Sub" and is_zero(left):
            return Sum(right.loaders)
        return None
    return _of_figures(operator, left, right)


def _of_rows(operator: str, left: Value, right: Value) -> Outcome | None:
    if any(isinstance(one, Share) and not isinstance(one, Shard) for one in (left, right)):
        return None  # a row combined with a figure of the slice: rows no longer stay apart
    if operator == "MatMult":
        return product(left, right)
    shards = [one for one in (left, right) if isinstance(one, Shard)]
    result = combine(shards, (left, right))
    if isinstance(result, Mixed):
        return result
    masks = operator.startswith("Bit") and all(shard.mask for shard in shards)
    return replace(result, mask=masks)


def _with_plain(operator: str, share: Share, plain: Value) -> Value | None:
    if operator in ("Mult", "Div"):
        if not isinstance(share, Count):
            return share
        return Sum(share.loaders) if operator == "Div" else Count(share.loaders, scaled=True)
    if operator in ("Add", "Sub"):
        # A sum would take what is added once for every worker.
        return share if isinstance(share, Mean) or is_zero(plain) else None
    return None


def _of_figures(operator: str, left: Share, right: Share) -> Value | None:
    loaders = left.loaders
    if operator in ("Add", "Sub"):
        if isinstance(left, Mean) and isinstance(right, Mean):
            return Mean(loaders)
        if isinstance(left, Sum | Count) and isinstance(right, Sum | Count):
            return Sum(loaders)
    if operator == "Mult" and {type(left), type(right)} == {Mean, Count}:
        return Sum(loaders)
    if operator == "Div" and isinstance(left, Sum) and isinstance(right, Count):
        return Mean(loaders)
    return None


def method(name: str, figure: Share, arguments: Sequence[Value]) -> Value | None:
    """``figure.name(…)``, or a function of that name; None where the whole has to be asked for."""
    result: Outcome | None = None
    if not isinstance(figure, Mean | Sum | Count | Blend):
        return None
    if name in CUTS_OFF and (not isinstance(figure, Count) or figure.scaled):
        return None  # cut off for each slice, the rest would be lost
    if name in LINEAR:
        result = figure
    elif not isinstance(figure, Blend) and name.rstrip("_") in SCALING and arguments:
        result = _binary(SCALING[name.rstrip("_")], figure, arguments[0])
    if not isinstance(result, Share):
        return None
    return without_gradient(result) if name in ENDS_GRADIENT else with_models(result, figure)
