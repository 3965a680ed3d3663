"""Batch normalisation by the statistics of all parts."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from trainera.mirror_crew.parts import Cuts, cut, cut_up, join
from trainera.mirror_crew.state import CREW, computing_whole

FUSED_EPSILON = 1.001e-5
"""The least that the fused kernel adds to a variance."""
TOLD = (
    *("_calculate_mean_and_var", "_assign_moving_average", "_moments"),
    *("moving_mean", "moving_variance", "fused", "epsilon"),
)
"""What a layer has otherwise while it is told."""
SPECIAL = ("renorm", "virtual_batch_size", "adjustment", "synchronized")


def normalised(plain: Callable[..., Any], layer: Any, inputs: Any, **kwargs: Any) -> Any:
    """What a layer makes of a batch in parts.

    Each part goes through the layer's own code, which is told the statistics of all; what it has
    learned is changed once.
    """
    if any(getattr(layer, name, None) for name in SPECIAL):
        return plain(layer, inputs, **kwargs)
    training = trains(layer, kwargs.get("training"))
    if tf.is_tensor(training):
        return plain(layer, inputs, **kwargs)
    parts, cuts = cut_up(inputs)
    mask = kwargs.get("mask")
    masks = [None] * len(parts) if mask is None else cut(mask)
    told = statistics(layer, cuts, parts, masks) if training else None
    outputs = []
    for number, (name, part, covered) in enumerate(zip(CREW.names, parts, masks, strict=True)):
        with tf.device(name), computing_whole(), telling(layer, told, learning=number == 0):
            outputs.append(plain(layer, part, **{**kwargs, "mask": covered}))
    return join(outputs, cuts)


def trains(layer: Any, training: Any) -> Any:
    """Whether the layer takes statistics now."""
    if is_old(layer):
        return layer._get_training_value(training)
    return bool(training) and layer.trainable


def is_old(layer: Any) -> bool:
    """Whether a layer is of Keras 2."""
    return hasattr(layer, "_calculate_mean_and_var")


def statistics(layer: Any, cuts: Cuts, parts: "list[Any]", masks: "list[Any]") -> Any:
    """Mean and variance of all rows, and the number of figures of which they are made."""
    rank = parts[0].shape.rank
    along = layer.axis if isinstance(layer.axis, list | tuple) else (layer.axis,)
    axes = [axis for axis in range(rank) if axis not in {one % rank for one in along}]
    wide = parts[0].dtype if parts[0].dtype.size > 4 else tf.float32
    parts = cuts.counted(parts)
    masks = masks if masks[0] is None else cuts.counted(masks)
    found = []
    for name, part, mask in zip(CREW.names, parts, masks, strict=True):
        with tf.device(name):
            found.append(of_part(tf.cast(part, wide), mask, axes))
    with tf.device(CREW.names[0]):
        counts, means, spreads = (tf.stack(one) for one in zip(*found, strict=True))
        total = tf.reduce_sum(counts, 0)
        mean = tf.math.divide_no_nan(tf.reduce_sum(means * counts, 0), total)
        between = tf.reduce_sum(counts * tf.math.squared_difference(means, mean), 0)
        variance = tf.math.divide_no_nan(tf.reduce_sum(spreads, 0) + between, total)
        return mean, variance, tf.reduce_max(total), axes


def of_part(part: Any, mask: Any, axes: "list[int]") -> Any:
    """Number, mean and sum of squared differences of a part, which may have no row."""
    weights = tf.ones_like(part)
    if mask is not None:
        weights *= tf.cast(mask, part.dtype)[..., None]
    count = tf.reduce_sum(weights, axes, keepdims=True)
    mean = tf.math.divide_no_nan(tf.reduce_sum(part * weights, axes, keepdims=True), count)
    difference = tf.math.squared_difference(part, mean) * weights
    return count, mean, tf.reduce_sum(difference, axes, keepdims=True)


@contextlib.contextmanager
def telling(layer: Any, told: Any, learning: bool) -> Iterator[None]:
    """The time in which a layer takes these statistics for its own, and may learn from them."""
    own, before = vars(layer), dict(vars(layer))
    if told is not None:
        mean, variance, count, axes = told

        def answer(inputs: Any, along: Any = None, keep_dims: Any = None, mask: Any = None) -> Any:
            if keep_dims is True:
                return mean, variance
            return tf.squeeze(mean, axes), tf.squeeze(variance, axes)

        if is_old(layer):
            own["_calculate_mean_and_var"] = answer
            own["_assign_moving_average"] = averaging(layer, count) if learning else ignore
        else:
            own["_moments"] = answer
            for name in () if learning else ("moving_mean", "moving_variance"):
                own[name] = Unmoved(own[name])
    if told is not None and own.get("fused"):
        # The fused kernel takes statistics by itself, and adds no less than this.
        own["fused"], own["epsilon"] = False, max(layer.epsilon, FUSED_EPSILON)
    try:
        yield
    finally:
        for name in TOLD:
            if name in before:
                own[name] = before[name]
            else:
                own.pop(name, None)


def averaging(layer: Any, count: Any) -> Any:
    """How a layer of Keras 2 learns; the fused kernel keeps the variance of a sample, n - 1."""
    plain, fused = layer._assign_moving_average, layer.fused

    def average(variable: Any, value: Any, *rest: Any) -> Any:
        if fused and variable is layer.moving_variance:
            value *= tf.cast(count / tf.maximum(count - 1, 1), value.dtype)
        return plain(variable, value, *rest)

    return average


def ignore(*args: Any) -> None:
    """In the place of a function that changes something."""


class Unmoved:
    """Stands for a statistic that was changed already: it can be read."""

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def __getattr__(self, name: str) -> Any:
        return getattr(self.variable, name)

    def __tf_tensor__(self, dtype: Any = None, name: Any = None) -> Any:
        return tf.convert_to_tensor(self.variable, dtype=dtype)

    def assign(self, value: Any) -> None:
        """Nothing changes."""
