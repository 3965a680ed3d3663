"""Random numbers of layers: drawn for the whole batch by every worker, of which it takes its rows.

So all draw the same, as much as the sequential script draws.
"""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.region import Region, whole_parts
from trainera.tf_crew.state import CREW

SHAPED = ("random_normal", "random_uniform", "truncated_normal")


def connect_draws() -> None:
    """Has Keras's source of random numbers look where it is asked."""
    from keras.src import backend

    kind: Any = backend.RandomGenerator

    def shaped(plain: Any) -> Any:
        def draw(self: Any, shape: Any, *args: Any, **kwargs: Any) -> Any:
            region = CREW.here.region
            if self._rng_type == kind.RNG_STATELESS:  # initial weights, which all have alike
                return plain(self, shape, *args, **kwargs)
            if CREW.here.trying is not None:
                return CREW.here.trying.drawn(shape, kwargs.get("dtype") or backend.floatx())
            if not isinstance(region, Region):
                return plain(self, shape, *args, **kwargs)
            return rows_of(region, plain(self, whole_shape(region, shape), *args, **kwargs))

        return draw

    for name in SHAPED:
        setattr(kind, name, shaped(getattr(kind, name)))
    plain_dropout = kind.dropout

    def dropout(self: Any, inputs: Any, rate: Any, noise_shape: Any = None) -> Any:
        region = CREW.here.region
        shape = tf.shape(inputs) if noise_shape is None else noise_shape
        if CREW.here.trying is not None:
            return inputs * CREW.here.trying.drawn(shape, inputs.dtype)
        if not isinstance(region, Region):
            return plain_dropout(self, inputs, rate, noise_shape)
        kept = plain_dropout(self, tf.ones(whole_shape(region, shape), inputs.dtype), rate)
        return inputs * rows_of(region, kept)

    kind.dropout = dropout


def whole_shape(region: Region, shape: Any) -> Any:
    """The shape that the sequential script draws: with the rows of all workers."""
    shape = tf.cast(tf.convert_to_tensor(shape), tf.int32)
    rows = region.rows * region.parts_of(shape[0])
    return tf.concat([rows[None], shape[1:]], 0)


def rows_of(region: Region, drawn: Any) -> Any:
    """This worker's rows of what was drawn."""
    parts = whole_parts(tf.shape(drawn)[0], region.rows)
    begin = region.begin * parts
    return drawn[begin : begin + region.taken * parts]
