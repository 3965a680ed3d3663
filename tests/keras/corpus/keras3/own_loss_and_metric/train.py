"""Own loss class, metric class and metric function; sample_weight with weighted_metrics."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "true"

import keras
from keras import ops
import numpy as np


class HuberLike(keras.losses.Loss):
    """Quadratic near zero and linear further out."""

    def __init__(self, width=0.7, **kwargs):
        super().__init__(**kwargs)
        self.width = width

    def call(self, y_true, y_pred):
        error = ops.abs(y_true - y_pred)
        small = 0.5 * ops.square(error)
        large = self.width * (error - 0.5 * self.width)
        return ops.mean(ops.where(error < self.width, small, large), axis=-1)


class WithinBand(keras.metrics.Metric):
    """Share of the predictions that lie within a band around the truth."""

    def __init__(self, band=0.5, name="within", **kwargs):
        super().__init__(name=name, **kwargs)
        self.band = band
        self.hits = self.add_variable(shape=(), initializer="zeros", name="hits")
        self.seen = self.add_variable(shape=(), initializer="zeros", name="seen")

    def update_state(self, y_true, y_pred, sample_weight=None):
        near = ops.cast(ops.abs(y_true - y_pred) < self.band, self.dtype)
        if sample_weight is not None:
            near = near * ops.reshape(ops.cast(sample_weight, self.dtype), (-1, 1))
        self.hits.assign(self.hits + ops.sum(near))
        self.seen.assign(self.seen + ops.cast(ops.size(near), self.dtype))

    def result(self):
        return self.hits / ops.maximum(self.seen, 1.0)


def bias(y_true, y_pred):
    return ops.mean(y_pred - y_true, axis=-1)


keras.config.set_floatx("float64")
keras.utils.set_random_seed(99)
rs = np.random.RandomState(1)
X = rs.uniform(-1, 1, size=(203, 5))
Y = (X @ rs.normal(size=(5, 1))) ** 2 + rs.normal(scale=0.1, size=(203, 1))
W = rs.uniform(0.2, 2.0, size=203)

net = keras.Sequential([keras.layers.Dense(16, "relu"), keras.layers.Dense(1)])
net.compile("adam", loss=HuberLike(0.5), metrics=[WithinBand(0.4), bias], weighted_metrics=["mae"])
h = net.fit(X[:160], Y[:160], sample_weight=W[:160], batch_size=29, epochs=3, verbose=0,
            validation_data=(X[160:], Y[160:], W[160:]), validation_batch_size=25)
for key in sorted(h.history):
    print(key.ljust(12), " ".join("{:.10f}".format(v) for v in h.history[key]))
print("unweighted:", ["%.10f" % v for v in net.evaluate(X[160:], Y[160:], batch_size=25, verbose=0)])
np.save("kernel.npy", net.layers[0].get_weights()[0])
net.save_weights("own.weights.h5")
