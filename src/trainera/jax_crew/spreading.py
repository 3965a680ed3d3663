"""Rows of a batch over devices, whatever their numbers.

JAX computes with an array that is spread over devices as with any other: what comes out is what one
device would have computed of the whole batch, for every loss, metric, normalisation and random
number. So how rows are laid out can make a training slow, but never wrong. What Keras lacks is only
this: an array cannot be *put* on devices in unequal parts. Within a compiled step it can *be* in
unequal parts: the compiler fills up and leaves out by itself. So a batch that cannot be dealt
evenly is given to all devices, and spread where the step begins.
"""

import os
import re
from functools import partial
from typing import Any

import jax
import keras
import numpy
from jax.sharding import NamedSharding, PartitionSpec
from keras.distribution import TensorLayout

from trainera.jax_crew.seams import connect
from trainera.jax_crew.state import CREW, processes_begun
from trainera.jax_crew.uneven import call_uneven

BATCH = "batch"


class DataParallel(keras.distribution.DataParallel):  # type: ignore[misc]
    """Keras's data parallelism, for batches of any size on any number of devices."""

    def __init__(self, devices: "list[str] | None" = None) -> None:
        begun = processes_begun()
        if begun > CREW.size:
            raise SystemExit(
                f"{begun} processes were begun, and the script was converted for the devices of "
                "one: convert it with --engine jax_processes, or begin one process"
            )
        connect(place, call_in_parts)
        super().__init__(devices=devices or chosen_devices())

    def get_data_layout(self, data_shape: Any) -> Any:
        """Row by row if there is a like number for each device, else everything for each."""
        axes: list[str | None] = [None] * len(data_shape)
        if axes and data_shape[0] and data_shape[0] % self.device_mesh.devices.size == 0:
            axes[0] = self.batch_dim_name
        return TensorLayout(axes, self.device_mesh)


def chosen_devices() -> "list[str]":
    """As many devices as were asked for, else all there are."""
    leave_threads()
    names: list[str] = keras.distribution.list_devices()
    wanted = int(os.environ.get("TRAINERA_DEVICES") or len(names))
    if wanted > len(names):
        raise SystemExit(
            f"{wanted} devices were asked for, and JAX sees {len(names)} ({', '.join(names)}): "
            f"set XLA_FLAGS=--xla_force_host_platform_device_count={wanted} for CPUs, or ask for "
            "fewer"
        )
    return names[:wanted]


def leave_threads() -> None:
    """Has JAX make a thread for each device that is made of cores, and more to compute with.

    Else devices that wait for each other take all there are, if they are more than the cores.
    """
    made = re.search(r"host_platform_device_count=(\d+)", os.environ.get("XLA_FLAGS", ""))
    if made:
        os.environ.setdefault("NPROC", str(int(made[1]) + (os.cpu_count() or 1)))


def place(batch: Any, layout: Any = None, batch_dim_name: "str | None" = None) -> Any:
    """A batch, or a part of one, on the devices.

    Keras lays out every batch of a pass as the first one; the last may have fewer rows.
    """
    distribution = keras.distribution.distribution()
    if batch is None or not hasattr(batch, "shape"):
        return batch
    layout = distribution.get_data_layout(tuple(batch.shape)).backend_layout
    return jax.device_put(batch, layout)


def call_in_parts(function: Any, state: Any, data: Any) -> Any:
    """Calls a compiled step with its batch in parts, which here may be unequal."""
    distribution = keras.distribution.distribution()
    if distribution is None:
        return function(state, data)
    mesh = distribution.device_mesh
    rows = NamedSharding(mesh.backend_mesh, PartitionSpec(BATCH))
    cut = partial(_laid_out, rows)
    if any(leaf.shape[0] % mesh.devices.size for leaf in _tables(data)):
        return call_uneven(function, state, data, cut)
    return function(state, cut(data))


def _laid_out(sharding: Any, data: Any) -> Any:
    constrain = jax.lax.with_sharding_constraint
    tables = set(map(id, _tables(data)))
    return jax.tree.map(
        lambda leaf: constrain(leaf, sharding) if id(leaf) in tables else leaf, data
    )


def _tables(data: Any) -> "list[jax.Array]":
    """Arrays that have rows."""
    leaves = jax.tree.leaves(data)
    return [leaf for leaf in leaves if isinstance(leaf, jax.Array) and leaf.ndim and leaf.shape[0]]


def spread(data: Any) -> Any:
    """Arrays that a loop of the script's own gives to a compiled function, on the devices."""
    if jax.default_backend() == "cpu":
        jax.block_until_ready(jax.live_arrays())  # one step after the other: see `one_at_a_time`

    def one(leaf: Any) -> Any:
        if isinstance(leaf, jax.Array):
            numbers = not jax.numpy.issubdtype(leaf.dtype, jax.dtypes.extended)
            return place(leaf) if numbers else leaf  # keys of random numbers have no rows
        if isinstance(leaf, keras.Variable) or not hasattr(leaf, "shape"):
            return leaf
        return place(numpy.asarray(leaf))

    return jax.tree.map(one, data)
