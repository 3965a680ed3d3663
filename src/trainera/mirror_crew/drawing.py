"""Random numbers of layers: drawn for the whole batch, as ever; each device takes its rows."""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from trainera.mirror_crew.parts import cut, cut_up, join, parts_of
from trainera.mirror_crew.state import CREW, computing_whole


def drawn(
    plain: Callable[..., Any], layer: Any, inputs: Any, *, adding: bool, **kwargs: Any
) -> Any:
    """What a layer makes of a batch in parts.

    What it does to a batch of nothing but ones, or noughts, tells the numbers that it has drawn.
    """
    if parts_of(inputs) is None or not kwargs.get("training"):
        return plain(layer, inputs, **kwargs)
    parts, cuts = cut_up(inputs)
    shape = tf.concat([tf.convert_to_tensor(cuts.rows)[None], tf.shape(parts[0])[1:]], 0)
    with computing_whole(), tf.device(CREW.names[0]):
        blank = tf.zeros(shape, inputs.dtype) if adding else tf.ones(shape, inputs.dtype)
        blank.set_shape(inputs.shape)
        numbers = plain(layer, blank, **kwargs)
    outputs = []
    for name, part, number in zip(CREW.names, parts, cut(numbers), strict=True):
        with tf.device(name):
            outputs.append(part + number if adding else tf.math.multiply_no_nan(part, number))
    return join(outputs, cuts)
