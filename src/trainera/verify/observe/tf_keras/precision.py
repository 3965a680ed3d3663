"""Every floating-point number in 64 bits, whatever the script asks for.

TensorFlow does not compute with numbers of different widths, so what a script makes itself has to
be as wide as what Keras makes for it.
"""

import functools
import sys
from typing import Any

import keras
import numpy
import tensorflow as tf
from keras.src.mixed_precision import policy

from trainera.verify.observe.record import put
from trainera.verify.observe.tf_keras.telling import hook

NARROW = ("float16", "bfloat16", "float32")
POLICIES = (*NARROW, "mixed_float16", "mixed_bfloat16")
MAKING = {
    tf: ("zeros", "ones", "fill", "one_hot", "eye", "linspace"),
    tf.random: ("normal", "uniform", "truncated_normal", "gamma"),
}
"""What makes numbers of 32 bits unless it is told otherwise."""
CONVERTING = ("constant", "convert_to_tensor")


def widen() -> None:
    """Has Keras compute in 64 bits, and the script with it."""
    keras.backend.set_floatx("float64")
    _everywhere("set_floatx", keras.backend.set_floatx, lambda value: None)
    _widen_policies()
    wide = tf.float64
    for module in (tf, tf.dtypes):
        for name in NARROW:
            if hasattr(module, name):
                put(module, name, wide)
    plain_cast = tf.cast

    def cast(x: Any, dtype: Any, name: Any = None) -> Any:
        return plain_cast(x, wide if tf.as_dtype(dtype).name in NARROW else dtype, name=name)

    for module in (tf, tf.dtypes):
        put(module, "cast", functools.wraps(plain_cast)(cast))
    for module, names in MAKING.items():
        for name in names:
            hook(module, name, lambda plain: _widened(plain, plain_cast))
    for name in CONVERTING:
        hook(tf, name, lambda plain: _converted_widely(plain, plain_cast))
    for name in ("from_tensor_slices", "from_tensors"):
        _widen_source(name)


def _widened(plain: Any, cast: Any) -> Any:
    def make(*args: Any, **options: Any) -> Any:
        made = plain(*args, **options)
        narrow = tf.is_tensor(made) and made.dtype.name in NARROW
        return cast(made, tf.float64) if narrow else made

    return make


def _converted_widely(plain: Any, cast: Any) -> Any:
    def convert(value: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        made = plain(value, dtype, *args, **options)
        if made.dtype.name not in NARROW:
            return made
        # Not by way of 32 bits, unless it is a tensor that has no more.
        if tf.is_tensor(value):
            return cast(made, tf.float64)
        return plain(value, tf.float64, *args, **options)

    return convert


def _widen_policies() -> None:
    def make(plain: Any) -> Any:
        def begin(one: Any, name: Any, *args: Any, **options: Any) -> None:
            plain(one, "float64" if name in POLICIES else name, *args, **options)

        return begin

    hook(policy.Policy, "__init__", make)
    policy.set_global_policy("float64")


def _widen_source(name: str) -> None:
    """A pipeline begins with arrays of 64 bits."""
    plain = getattr(tf.data.Dataset, name)

    def begin(tensors: Any, *args: Any, **options: Any) -> Any:
        return plain(tf.nest.map_structure(_wide, tensors), *args, **options)

    put(tf.data.Dataset, name, staticmethod(functools.wraps(plain)(begin)))


def _wide(leaf: Any) -> Any:
    if isinstance(leaf, numpy.ndarray) and leaf.dtype.name in NARROW:
        return leaf.astype(numpy.float64)
    return leaf


def _everywhere(name: str, plain: Any, new: Any) -> None:
    """Keras offers its functions in several modules."""
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("keras.") and vars(module).get(name) is plain:
            put(module, name, new)
