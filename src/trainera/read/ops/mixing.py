"""Operations of a network that combine the samples of a batch with each other.

Inside a network rows are taken to stay apart. These are the signs that they do not, where it is
known along which dimension the batch lies.
"""

import ast
from collections.abc import Sequence

from trainera.read.ops import tables, tensors
from trainera.read.values import Const, Count, Items, Shard, ShardShape, Value

MIXERS = {
    *("batch_norm", "bincount", "cdist", "corrcoef", "cov", "cummax", "cummin", "cumprod"),
    *("histc", "kthvalue", "median", "mode", "nanmedian", "nanquantile", "pdist", "quantile"),
    *("renorm", "rot90", "unique", "unique_consecutive", "index_add", "index_select"),
}
SCATTERS = {"index_add", "index_copy", "index_put", "scatter", "scatter_add", "scatter_reduce"}
LINEAR = {"sum", "mean", "nansum", "count_nonzero"}


def mixes_rows(
    name: str, shard: Shard, arguments: Sequence[Value], keywords: dict[str, Value]
) -> bool:
    """Whether a tensor operation works across the batch."""
    if shard.dim is None:
        return False
    if name == "layer_norm":
        shapes = Items((*arguments, *keywords.values()))
        return any(isinstance(value, ShardShape | Count) for value in _flat(shapes))
    if name in tables.ALONG and name not in LINEAR:
        dims = tensors.dims_of(name, arguments, keywords)
        if dims == "all":
            return name in ("cumsum", "flip", "roll")
        return isinstance(dims, list) and tensors.touches(shard, dims)
    if name in MIXERS:
        given = keywords.get("dim", arguments[-1] if arguments else None)
        along = given.value if isinstance(given, Const) else None
        known = isinstance(along, int) and not isinstance(along, bool)
        return not known or along == shard.dim or name == "batch_norm"
    if name == "einsum" and arguments and isinstance(arguments[0], Const):
        return _einsum_mixes(str(arguments[0].value), arguments[1:])
    return False


def is_figure(name: str, arguments: Sequence[Value], keywords: dict[str, Value]) -> bool:
    """Whether an operation makes one number of all rows in a way that is neither sum nor mean."""
    return (
        name in tables.ALONG
        and name not in LINEAR
        and not tables.ALONG[name][1]
        and tensors.dims_of(name, arguments, keywords) == "all"
        and not (name in ("max", "min") and any(isinstance(value, Shard) for value in arguments))
    )


def _flat(value: Value) -> list[Value]:
    if isinstance(value, Items):
        return [inner for item in value.items for inner in _flat(item)]
    return [value]


def _einsum_mixes(spec: str, operands: Sequence[Value]) -> bool:
    """The batch must be one and the same letter in all operands and in the result."""
    inputs, _, output = spec.replace(" ", "").partition("->")
    letters = {
        part[operand.dim]
        for part, operand in zip(inputs.split(","), operands, strict=False)
        if isinstance(operand, Shard) and operand.dim is not None and operand.dim < len(part)
    }
    return len(letters) > 1 or any(letter not in output for letter in letters if output)


def picks_rows(shard: Shard, key: ast.expr) -> bool:
    """Whether an index picks some samples of the batch by their place in it."""
    if shard.dim != 0 or shard.nested:
        return False
    first = key.elts[0] if isinstance(key, ast.Tuple) and key.elts else key
    if isinstance(first, ast.Slice):
        return not (first.lower is first.upper is first.step is None)
    if isinstance(first, ast.UnaryOp) and isinstance(first.op, ast.USub):
        first = first.operand
    if isinstance(first, ast.Constant):
        return isinstance(first.value, int)
    return isinstance(first, ast.Call)  # an index made on the spot, such as a permutation


def counts(node: ast.Call) -> bool:
    """Whether a call is given how many rows fulfil a condition: of slices, too, a whole number."""
    inside = list(ast.walk(node))
    compared = any(
        isinstance(part, ast.Compare)
        or (isinstance(part, ast.Attribute) and part.attr in ("eq", "ne", "isin", "count_nonzero"))
        for part in inside
    )
    scaled = any(isinstance(part, ast.Mult | ast.Div) for part in inside)
    return compared and not scaled
