"""Weights that are read inside of a network: their gradients are added up over the workers."""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.region import Region
from trainera.tf_crew.state import CREW

CHANGES = ("assign", "assign_add", "assign_sub")


def connect_weights() -> None:
    """Has weights pass through `enter` where a network reads them."""
    from tensorflow.python.ops import resource_variable_ops

    kind: Any = resource_variable_ops.BaseResourceVariable
    plain_read, plain_lookup = kind._read_variable_op, kind.sparse_read

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        region = CREW.region
        if not isinstance(region, Region) or not self.trainable:
            return plain_read(self, *args, **kwargs)
        return region.reading(self, lambda: plain_read(self, *args, **kwargs))

    def look_up(self: Any, indices: Any, name: Any = None) -> Any:
        """A look-up is done for the whole batch: its gradient has to stay sparse."""
        region = CREW.region
        if not isinstance(region, Region) or not self.trainable:
            return plain_lookup(self, indices, name=name)
        return region.take(plain_lookup(self, region.gather(indices), name=name))

    def changing(plain: Any) -> Any:
        def change(self: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(CREW.region, Region):
                CREW.region.changed(self)
            return plain(self, *args, **kwargs)

        return change

    kind._read_variable_op, kind.sparse_read = read, look_up
    for name in CHANGES:
        setattr(kind, name, changing(getattr(kind, name)))


def values_of(variables: "list[Any]") -> "list[Any]":
    """Copies of what variables hold, to be put back."""
    with tf.init_scope():
        return [tf.identity(variable.value()) for variable in variables]
