"""Tries what `jax_crew` computes in unequal parts: seven rows on three devices, against one.

`python -m tests.keras.uneven_claims` ends with 0 if every operation of the list was tried and gave
the same. It is a process of its own, because an operation that XLA cannot cut ends the process.
"""

import os
import sys
from functools import partial
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=3"
os.environ |= {"KERAS_BACKEND": "jax", "JAX_ENABLE_X64": "1"}

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.scipy import special

from trainera import jax_crew as crew
from trainera.jax_crew.spreading import call_in_parts, place
from trainera.jax_crew.uneven import SAFE, _steps

ROWS = 7
SAYING = {"custom_vjp_call", "name", "optimization_barrier", "remat", "sharding_constraint"}
"""What holds other operations, or says something about an array, and computes nothing."""


def by_element(x: Any, w: Any) -> list[Any]:
    """Functions of each number."""
    fixed, whole = lax.stop_gradient(x), (x * 50).astype(int)
    wide = [jnp.acosh(x + 1.5), jnp.atanh(x / 2), special.erfinv(x / 2)]
    bits = [lax.shift_left(whole, 1), lax.shift_right_arithmetic(whole, 1), whole ^ 3, whole & 5]
    bits += [lax.shift_right_logical(whole, 1), whole | 1, ~whole, whole % 7, whole // 4]
    plain = (
        *(jnp.abs, jnp.arccos, jnp.arcsin, jnp.arcsinh, jnp.arctan, jnp.cbrt, jnp.ceil, jnp.cos),
        *(jnp.cosh, special.erf, special.erfc, jnp.exp, jnp.exp2, jnp.expm1),
        *(jnp.floor, jnp.log, jnp.log1p, lax.logistic, jnp.negative, jnp.sign),
        *(jnp.round, lax.rsqrt, jnp.sin, jnp.sinh, jnp.sqrt, jnp.square, jnp.tan, jnp.tanh),
        *(special.i0e, special.i1e, jnp.isfinite, jnp.copy, lax.stop_gradient),
    )
    y = x @ w
    pairs = [x + y, x - y, x * y, x / (y + 1), x**y, x**3, jnp.arctan2(x, y), jnp.minimum(x, y)]
    pairs += [
        jnp.maximum(x, y),
        lax.nextafter(fixed, fixed + 1),
        x < y,
        x <= y,
        x == y,
        x != y,
        x >= y,
        x > y,
    ]
    other = [jnp.clip(x, 0.2, y + 1), jnp.where(x > 0.5, x, y), lax.clamp(0.1, x, 0.8)]
    other += [lax.reduce_precision(fixed, 8, 7), lax.bitcast_convert_type(fixed, jnp.uint64) % 997]
    other += [jnp.real(x + 0j), jnp.imag(x + 1j), jax.nn.relu(x), jax.nn.gelu(x), jax.nn.silu(y)]
    return [*wide, *bits, *[one(x) for one in plain], *pairs, *other]


def of_several(x: Any, w: Any) -> list[Any]:
    """Products, sums and windows, also over the rows, and other forms."""
    y = x @ w
    sums = (jnp.sum, jnp.max, jnp.min, jnp.prod)
    found = [one(y, axis=axis) for one in sums for axis in (0, 1, None)]
    found += [jnp.all(y > 0, axis=0), jnp.any(y > 2, axis=0), jnp.mean(y, 0), jnp.var(y, 0)]
    found += [jnp.argmax(y, axis=1), jnp.argmin(y, axis=1)]
    found += [y @ x.T, jax.nn.softmax(y @ x.T), jnp.einsum("bi,ci->bc", x, y).sum(1)]
    found += [jnp.concatenate([x, y]), jnp.concatenate([x, y], 1), jnp.pad(x, ((1, 2), (0, 1)))]
    found += [x[::-1], x[2:5], x[::2], x[:, 1:3], x[3], *jnp.split(y, [2, 5]), x.T, x.reshape(-1)]
    found += [x.reshape(-1, 4) @ w[:4, :4], x[:, None] - y[None], jnp.tile(x, (3, 1)), x[..., None]]
    found += [jnp.arange(ROWS)[:, None] * x, lax.cond(x.sum() > 1, jnp.sin, jnp.cos, y)]
    found += [lax.expand_dims(x, (1,)), jnp.repeat(y, 3, axis=0), jnp.flip(y, 1)]
    image = jnp.stack([x, y, x * y], -1)[:, :, None] * jnp.ones((1, 1, 5, 1))
    kernel = jnp.ones((3, 3, 3, 2)) * w[0, 0]
    layout = ("NHWC", "HWIO", "NHWC")
    convolve = partial(lax.conv_general_dilated, dimension_numbers=layout)
    found += [convolve(image, kernel, (1, 1), "SAME"), convolve(image, kernel, (2, 2), "VALID")]
    found += [convolve(image, kernel, (1, 1), [(2, 2)] * 2, lhs_dilation=(2, 2))]
    window = ((1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    found += [lax.reduce_window(image, 0.0, lax.add, *window)]
    found += [lax.reduce_window(image, -jnp.inf, lax.max, *window)]
    found += [lax.reduce_window(image, jnp.inf, lax.min, *window)]
    return found


def by_chance(x: Any, w: Any) -> list[Any]:
    """Random numbers for rows."""
    key = jax.random.key(3)
    one, other = jax.random.split(jax.random.fold_in(key, 4))
    raw = jax.random.wrap_key_data(jax.random.key_data(one))
    old = jax.random.split(jax.random.PRNGKey(7))[1]
    kept = jax.random.bernoulli(raw, 0.6, x.shape)
    drawn = [jax.random.normal(other, x.shape), jax.random.uniform(old, x.shape)]
    return [jnp.where(kept, x @ w / 0.6, 0), *(x + one for one in drawn)]


def step(state: Any, data: Any) -> Any:
    """All of it, and the gradients."""

    def loss(w: Any, x: Any) -> Any:
        told = [*by_element(x, w), *of_several(x, w), *by_chance(x, w)]
        figures = [one for one in told if one.dtype == jnp.float64]
        parts = [jnp.nan_to_num(jnp.tanh(one)).mean() for one in figures]
        return sum(parts), told

    gradient = jax.grad(loss, argnums=(0, 1), has_aux=True)
    grads, told = gradient(state, data)
    return (told, grads), state


def main() -> int:
    import keras

    draw = np.random.default_rng(5)
    x, w = draw.uniform(0.1, 0.9, (ROWS, 12)), draw.uniform(0.1, 0.4, (12, 12))
    expected = jax.jit(step)(jnp.asarray(w), jnp.asarray(x))
    keras.distribution.set_distribution(crew.DataParallel())
    given = jnp.asarray(w), place(x)
    met = {one.primitive.name for one in _steps(jax.make_jaxpr(step)(*given).jaxpr)}
    compiled = jax.jit(partial(call_in_parts, step)).lower(*given).compile()
    found = compiled(*given)
    wrong = 0
    for left, right in zip(jax.tree.leaves(expected), jax.tree.leaves(found), strict=True):
        wrong += not np.allclose(left, right, rtol=1e-9, atol=1e-12, equal_nan=True)
    devices = len(keras.distribution.distribution().device_mesh.devices)
    parts = "all-reduce" in compiled.as_text()  # as no device has all rows
    print("devices", devices, "wrong", wrong, "in parts", parts)
    print("not tried", *sorted(SAFE - SAYING - met))
    print("not listed", *sorted(met - SAFE - {"argmax", "argmin"}))
    return int(bool(wrong) or not parts or bool(SAFE - SAYING - met))


if __name__ == "__main__":
    sys.exit(main())
