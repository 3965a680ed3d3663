"""The two places of Keras's trainer where batches meet devices."""

from typing import Any

import jax
import keras
from jax.sharding import NamedSharding, PartitionSpec
from keras.src.backend.jax import distribution_lib, trainer

SAFE_GENERATOR = "threefry2x32"
"""Its numbers do not depend on where they are drawn; those of the others do."""


def require_jax() -> None:
    """Ends the run unless Keras computes on JAX."""
    if keras.backend.backend() != "jax":
        raise SystemExit(
            f"the script was converted for Keras on JAX, and Keras runs on "
            f"{keras.backend.backend()}: set KERAS_BACKEND=jax, or convert it for another engine"
        )


def connect(place: Any, call_in_parts: Any) -> None:
    """Has Keras put batches on devices by `place`, and call compiled steps by `call_in_parts`."""
    require_jax()
    if not hasattr(distribution_lib, "distribute_data_input") or not hasattr(trainer, "jit"):
        raise SystemExit(
            f"Keras {keras.__version__} deals batches out in a way that is not known here: "
            "install a version from 3.13 on"
        )
    generator = jax.config.jax_default_prng_impl
    if generator != SAFE_GENERATOR:
        raise SystemExit(
            f"random numbers of '{generator}' depend on the device that draws them, so that the "
            f"training would be another one: set jax_default_prng_impl to {SAFE_GENERATOR}"
        )

    def jit(function: Any, **options: Any) -> Any:
        def step(*arguments: Any) -> Any:
            if len(arguments) == 2:  # the state of the training, and a batch
                return call_in_parts(function, *arguments)
            return function(*arguments)

        given, distribution = options.get("out_shardings"), keras.distribution.distribution()
        if isinstance(given, tuple) and distribution is not None:
            # The state lies whole on all devices, whatever form an own `train_step` gives it.
            whole = NamedSharding(distribution.device_mesh.backend_mesh, PartitionSpec())
            options["out_shardings"] = (given[0], whole)
        return one_at_a_time(jax.jit(step, **options))

    distribution_lib.distribute_data_input = place
    trainer.jit = jit


def one_at_a_time(compiled: Any) -> Any:
    """The function, which waits for what it gives back if its devices are made of cores.

    Such devices share the threads of the process, and wait in them for each other. With several
    steps under way, all threads may wait for a device that has none left.
    """

    def call(*arguments: Any) -> Any:
        return jax.block_until_ready(compiled(*arguments))

    return call if jax.default_backend() == "cpu" else compiled
