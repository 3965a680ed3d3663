"""Every floating-point number in 64 bits, whatever the script asks for."""

from typing import Any

import keras
from keras.src import backend
from keras.src.backend.common import dtypes

from trainera.verify.observe.record import put

NARROW = ("float16", "bfloat16", "float32", "mixed_float16", "mixed_bfloat16")


def widen() -> None:
    """Has Keras compute in 64 bits, also where layers of its own go back to 32."""
    keras.config.set_floatx("float64")
    keep = keras.config.set_floatx

    def set_floatx(value: Any) -> None:
        keep("float64")

    for owner in (keras.config, keras.backend):
        put(owner, "set_floatx", set_floatx)
    original_policy = keras.config.set_dtype_policy

    def set_dtype_policy(policy: Any) -> None:
        name = policy if isinstance(policy, str) else policy.name
        original_policy("float64" if name in NARROW else policy)

    put(keras.config, "set_dtype_policy", set_dtype_policy)
    put(keras.mixed_precision, "set_global_policy", set_dtype_policy)
    stay_wide()


def stay_wide() -> None:
    """What has 64 bits keeps them: of 64 and 32 Keras makes 32, in batch normalisation say."""
    original = dtypes.result_type

    def result_type(*given: Any) -> Any:
        found = original(*given)
        wide = any(str(getattr(one, "name", one)) == "float64" for one in given)
        return "float64" if wide and found in NARROW else found

    for module in (backend, dtypes):
        put(module, "result_type", result_type)
