"""What XLA computes of arrays that lie in unequal parts on devices.

For some operations its partitioner is not made for that, and ends the process, with no exception
that could be caught: the row that is nearest to each sample, looked up in a table, or a sort of the
rows. So an uneven batch is cut only where a step is made of nothing but operations of this list;
else every device computes the whole, which is what one device would do.
"""

from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, jaxpr_as_fun

SAFE = frozenset(
    # by element
    "abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e "
    "bitcast_convert_type cbrt ceil clamp complex convert_element_type copy cos cosh div empty2 eq "
    "erf erf_inv erfc exp exp2 expm1 floor ge gt imag integer_pow is_finite le log "
    "log1p logistic lt max min mul ne neg nextafter not or pow real reduce_precision rem round "
    "rsqrt select_n shift_left shift_right_arithmetic shift_right_logical sign sin sinh sqrt "
    "square stop_gradient sub tan tanh xor "
    # products and sums
    "conv_general_dilated dot_general reduce_and reduce_max reduce_min reduce_or reduce_sum "
    "reduce_window_max reduce_window_min reduce_window_sum select_and_scatter_add "
    # form
    "broadcast_in_dim concatenate iota pad reshape reshard rev slice split squeeze stack tile "
    "transpose unstack "
    # random numbers
    "random_bits random_fold_in random_seed random_split random_unwrap random_wrap "
    # what holds other operations, and what only says something about an array
    "cond custom_jvp_call custom_vjp_call jit name optimization_barrier remat "
    "sharding_constraint".split()
)
"""Operations of JAX, by their names; `tests/keras/uneven_claims.py` tries each in unequal parts."""

ARGUMENTS = ("argmax", "argmin")


def call_uneven(function: Any, state: Any, batch: Any, cut: Any) -> Any:
    """Calls a step with an uneven batch: cut into parts if nothing in the step forbids it.

    The step is traced once, as ever, so what it does while it is traced is done once.
    """
    traced, form = jax.make_jaxpr(function, return_shape=True)(state, batch)
    rows = {leaf.shape[0] for leaf in jax.tree.leaves(batch) if getattr(leaf, "ndim", 0)}
    given = cut(batch) if is_safe(traced, rows) else batch
    results = jaxpr_as_fun(traced)(*jax.tree.leaves((state, given)))
    return jax.tree.unflatten(jax.tree.structure(form), results)


def is_safe(traced: ClosedJaxpr, rows: "set[int]") -> bool:
    """Whether all that is computed of that many rows may be computed in unequal parts."""
    return all(_is_safe(step, rows) for step in _steps(traced.jaxpr))


def _steps(program: Jaxpr) -> Any:
    for step in program.eqns:
        yield step
        for inner in jax.tree.leaves(list(step.params.values()), is_leaf=_is_program):
            if _is_program(inner):
                yield from _steps(getattr(inner, "jaxpr", inner))


def _is_program(one: Any) -> bool:
    return isinstance(one, Jaxpr | ClosedJaxpr)


def _is_safe(step: Any, rows: "set[int]") -> bool:
    """Of the largest value's place: where it is looked for among classes, not among rows."""
    if step.primitive.name in ARGUMENTS:
        shape = step.invars[0].aval.shape
        sizes = [shape[axis] for axis in step.params["axes"]]
        return all(size % row and row % size for size in sizes for row in rows)
    return step.primitive.name in SAFE
