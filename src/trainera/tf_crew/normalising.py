"""Batch normalisation by the statistics of the whole batch."""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.region import Region, enter, one_of_each
from trainera.tf_crew.state import CREW


def connect_normalisation() -> None:
    """Has batch normalisation ask all workers for their part of the statistics."""
    from keras.src.layers.normalization import batch_normalization

    kind: Any = batch_normalization.BatchNormalizationBase
    plain_statistics, plain_call = kind._calculate_mean_and_var, kind.call
    plain_training, plain_average = kind._get_training_value, kind._assign_moving_average

    def statistics(self: Any, inputs: Any, axes: Any, keep_dims: Any, mask: Any = None) -> Any:
        region = CREW.here.region
        if not isinstance(region, Region):
            return plain_statistics(self, inputs, axes, keep_dims, mask=mask)
        mean, variance, count = statistics_of_all(region, inputs, list(axes), mask)
        if "crew_spread" in vars(self):
            vars(self)["crew_spread"] = count / tf.maximum(count - 1, 1)
        if keep_dims:
            return mean, variance
        return tf.squeeze(mean, axes), tf.squeeze(variance, axes)

    def call(self: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """The fused kernel takes statistics by itself, so it is not used with rows.

        It knows no masks, and keeps the variance of a sample, with n - 1 for n.
        """
        if CREW.here.trying is not None:
            CREW.here.trying.check(inputs.shape[0])
        if not self.fused or not isinstance(CREW.here.region, Region):
            return plain_call(self, inputs, *args, **kwargs)
        self.fused = False
        vars(self)["crew_spread"] = None
        try:
            return plain_call(self, inputs, *args, **{**kwargs, "mask": None})
        finally:
            self.fused = True
            del vars(self)["crew_spread"]

    def average(self: Any, variable: Any, value: Any, momentum: Any, inputs_size: Any) -> Any:
        spread = vars(self).get("crew_spread")
        if spread is not None and variable is self.moving_variance:
            value = value * tf.cast(spread, value.dtype)
        return plain_average(self, variable, value, momentum, inputs_size)

    def training_value(self: Any, training: Any = None) -> Any:
        """A network on trial normalises by what it has learned, or rows would depend on others."""
        return False if CREW.here.trying is not None else plain_training(self, training)

    kind._calculate_mean_and_var, kind.call = statistics, call
    kind._get_training_value, kind._assign_moving_average = training_value, average


def statistics_of_all(region: Region, inputs: Any, axes: "list[int]", mask: Any) -> Any:
    """Mean and variance over the rows of all workers, and their number: one exchange each way."""
    own = region.own * region.parts_of(tf.shape(inputs)[0])
    mine = inputs[:own]
    weights = tf.ones_like(mine)
    if mask is not None:
        weights *= tf.cast(mask[:own], mine.dtype)[..., None]
    count = tf.reduce_sum(weights, axes, keepdims=True)
    mean = tf.math.divide_no_nan(tf.reduce_sum(mine * weights, axes, keepdims=True), count)
    spread = tf.reduce_sum(tf.math.squared_difference(mine, mean) * weights, axes, keepdims=True)
    counts, means, spreads = tf.unstack(one_of_each(tf.stack([count, mean, spread])), axis=1)
    total = tf.reduce_sum(counts, 0)
    mean = tf.reduce_sum(means * counts, 0) / total
    between = tf.reduce_sum(counts * tf.math.squared_difference(means, mean), 0)
    variance = (tf.reduce_sum(spreads, 0) + between) / total
    mean, variance = tf.unstack(enter(tf.stack([mean, variance])))
    return mean, variance, tf.reduce_max(total)
