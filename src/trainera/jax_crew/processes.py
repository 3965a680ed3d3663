"""The devices of several processes: each process holds the whole batch, and computes its rows.

Every process runs the whole script on the same whole batches. An array is made for all devices from
what each process holds, which sends nothing, and is cut where the compiled step begins, as a batch
is that cannot be dealt evenly. What a step gives back is put together for all, so that every
process can read it: losses and metrics, and the rows of a prediction.
"""

from typing import Any

import jax
import numpy
from jax.sharding import NamedSharding, PartitionSpec
from keras.src.backend.jax import distribution_lib, trainer

from trainera.jax_crew.joining import join_processes
from trainera.jax_crew.sameness import note
from trainera.jax_crew.seams import require_jax
from trainera.jax_crew.spreading import DataParallel
from trainera.jax_crew.state import CREW


class ProcessParallel(DataParallel):
    """Keras's data parallelism over the devices of all processes, for batches of any size."""

    def __init__(self) -> None:
        require_jax()
        join_processes()
        super().__init__()
        self.auto_shard_dataset = False  # every process is given the whole of it
        if CREW.size > 1:
            everywhere = NamedSharding(self.device_mesh.backend_mesh, PartitionSpec())
            connect_steps(everywhere)
            connect_arrays(everywhere)


def connect_steps(everywhere: Any) -> None:
    """Has every process get all of what a compiled step of Keras gives back."""
    plain = trainer.jit

    def jit(function: Any, **options: Any) -> Any:
        given = options.get("out_shardings")
        parts = given if isinstance(given, tuple) else (given,)
        whole = tuple(everywhere if part is None else part for part in parts)
        options["out_shardings"] = whole if isinstance(given, tuple) else whole[0]
        compiled = plain(function, **options)

        def step(*arguments: Any) -> Any:
            CREW.require_all("a step")
            return compiled(*arguments)

        return step

    trainer.jit = jit


def connect_arrays(everywhere: Any) -> None:
    """Has Keras put batches and weights on the devices of all processes."""
    plain = distribution_lib.distribute_tensor

    def place(batch: Any, layout: Any = None, batch_dim_name: "str | None" = None) -> Any:
        if batch is None or not hasattr(batch, "shape"):
            return batch
        return on_all_devices(batch, everywhere)

    def distribute(tensor: Any, layout: Any) -> Any:
        local = isinstance(tensor, jax.Array) and not isinstance(tensor, jax.core.Tracer)
        if local and tensor.is_fully_addressable:
            return on_all_devices(tensor, everywhere)
        return plain(tensor, layout)

    distribution_lib.distribute_data_input = place
    distribution_lib.distribute_tensor = distribute


def on_all_devices(value: Any, everywhere: Any) -> Any:
    """An array of all processes, of which each holds the whole."""
    if isinstance(value, jax.Array) and not value.is_fully_addressable:
        return value
    whole = numpy.asarray(value)
    whole = whole.astype(jax.dtypes.canonicalize_dtype(whole.dtype), copy=False)
    if not CREW.apart:  # what the first process makes to write a file, nobody computes with
        note(whole)
    return jax.make_array_from_callback(whole.shape, everywhere, lambda index: whole[index])
