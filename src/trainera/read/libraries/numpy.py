"""The operations of numpy on arrays that are parts of a batch: functions, and methods of arrays.

Names are those of numpy without ``numpy.``. Every entry is tried against numpy itself.
"""

from trainera.read.ops import along, elementwise, joining, products, reductions, reshaping, turning
from trainera.read.ops.table import Operation, Table

NUMPY = Table("numpy")
CHANGERS = frozenset({"put", "place", "copyto", "putmask", "fill_diagonal", "put_along_axis"})
"""Functions that change what they are given first."""

NUMPY.add(
    "abs absolute add arccos arcsin arctan arctan2 around ceil clip cos cosh deg2rad "
    "degrees divide exp exp2 expm1 fabs float_power floor floor_divide fmax fmin fmod hypot log "
    "log10 log1p log2 logaddexp maximum minimum mod multiply nan_to_num negative positive power "
    "rad2deg radians reciprocal remainder rint round sign sin sinh sqrt square subtract tan tanh "
    "true_divide trunc copysign heaviside sinc",
    elementwise.elementwise,
    keeps_rows=True,
)
NUMPY.add(
    "equal greater greater_equal isclose isfinite isinf isnan less less_equal logical_and "
    "logical_not logical_or logical_xor not_equal signbit",
    elementwise.elementwise,
    mask=True,
    keeps_rows=True,
)
NUMPY.add("where", elementwise.chosen, "condition, input=None, other=None", keeps_rows=True)
NUMPY.add(
    "array asarray ascontiguousarray asanyarray copy astype float16 float32 float64 int8 int16 "
    "int32 int64 uint8",
    elementwise.as_array,
    keeps_mask=True,
    keeps_rows=True,
)
NUMPY.add("tolist", elementwise.as_array, gives_list=True, keeps_rows=True)
NUMPY.add("zeros_like ones_like empty_like full_like", elementwise.alike, keeps_rows=True)

NUMPY.add(
    "sum nansum",
    reductions.reduction(reductions.sums),
    "a, dim=None, dtype=None, out=None, keepdim=False",
)
NUMPY.add(
    "mean average",
    reductions.reduction(reductions.averages),
    "a, dim=None, dtype=None, out=None, keepdim=False",
)
NUMPY.add("count_nonzero", reductions.reduction(reductions.sums), "a, dim=None, *, keepdim=False")
NUMPY.add(
    "max min amax amin nanmax nanmin",
    reductions.reduction(),
    "a, dim=None, out=None, keepdim=False",
)
NUMPY.add(
    "argmax argmin nanargmax nanargmin",
    reductions.reduction(),
    "a, dim=None, out=None, *, keepdim=False",
)
NUMPY.add("all any", reductions.reduction(), "a, dim=None, out=None, keepdim=False", mask=True)
NUMPY.add(
    "prod nanmean", reductions.reduction(), "a, dim=None, dtype=None, out=None, keepdim=False"
)
NUMPY.add(
    "std var nanstd nanvar",
    reductions.reduction(),
    "a, dim=None, dtype=None, out=None, ddof=0, keepdim=False",
)
NUMPY.add(
    "median nanmedian",
    reductions.reduction(),
    "a, dim=None, out=None, overwrite_input=False, keepdim=False",
)
NUMPY.add(
    "percentile quantile",
    reductions.quantile,
    "a, q, dim=None, out=None, overwrite_input=False, method='linear', keepdim=False",
)
NUMPY.add("linalg.norm", reductions.reduction(), "x, ord=None, dim=None, keepdim=False")

NUMPY.add("cumsum cumprod", along.along(), "a, dim=None, dtype=None")
NUMPY.add("sort", along.along(), "a, dim=-1, kind=None, order=None")
NUMPY.add("argsort", along.along(), "a, dim=-1, kind=None, order=None")
NUMPY.add("flip", along.along(), "m, dim=None", keeps_rows=True)
NUMPY.add("roll", along.along(), "a, shift, dim=None", keeps_rows=True)
NUMPY.add("diff", along.of_one_tensor(), "a, n=1, dim=-1")
NUMPY.add("take", along.of_one_tensor(), "a, indices, dim=None")
NUMPY.add("repeat", along.of_one_tensor(), "a, repeats, dim=None")

NUMPY.add("reshape", reshaping.view, "a, *shape", keeps_mask=True)
NUMPY.add("ravel flatten", reshaping.flatten_all, "a", keeps_mask=True)
NUMPY.add("squeeze", reshaping.squeeze, "a, dim=None", keeps_mask=True)
NUMPY.add("expand_dims", reshaping.unsqueeze, "a, dim", keeps_mask=True)
NUMPY.add("transpose", turning.permuted_or_reversed, "a, *dims", keeps_mask=True)
NUMPY.add("swapaxes", turning.transpose, "a, dim0, dim1", keeps_mask=True)
NUMPY.add("moveaxis", turning.movedim, "a, source, destination", keeps_mask=True)
NUMPY.add("split array_split", reshaping.pieces(), "ary, indices_or_sections, dim=0")
NUMPY.add("tile", reshaping.repeat, "A, *sizes", keeps_mask=True)

NUMPY.add("concatenate", joining.cat, "tensors, dim=0", keeps_mask=True, takes_figures=True)
NUMPY.add("stack", joining.stack, "tensors, dim=0", keeps_mask=True, takes_figures=True)
NUMPY.add("hstack", joining.beside, "tensors", keeps_mask=True, takes_figures=True)
NUMPY.add("dstack", joining.behind, "tensors", keeps_mask=True, takes_figures=True)
NUMPY.add("vstack", joining.rows, "tensors", keeps_mask=True, takes_figures=True)
NUMPY.add("column_stack", joining.columns, "tensors", keeps_mask=True)
NUMPY.add("matmul", products.matmul, "input, other")
NUMPY.add("dot", products.array_dot, "a, b")
NUMPY.add("einsum", products.einsum, "equation, *operands")


def operation(name: str) -> Operation | None:
    """A function of numpy by its qualified name."""
    return NUMPY.find(name.removeprefix("numpy.")) if name.startswith("numpy.") else None


def method(name: str) -> Operation | None:
    """A method of an array."""
    return NUMPY.find(name)
