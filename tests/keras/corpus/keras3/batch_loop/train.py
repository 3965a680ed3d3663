"""Epochs by hand over numpy slices: train_on_batch with sample weights, test_on_batch, early stopping by hand."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import keras
import numpy as np
from keras import layers

keras.config.set_floatx("float64")
keras.utils.set_random_seed(18)


def iterate(x, y, w, batch_size, shuffle):
    index = np.random.permutation(len(x)) if shuffle else np.arange(len(x))
    for start in range(0, len(x), batch_size):
        part = index[start:start + batch_size]
        yield x[part], y[part], w[part]


x = np.random.normal(size=(209, 6))
y = np.tanh(x[:, :1] - 2 * x[:, 1:2]) + 0.1 * np.random.normal(size=(209, 1))
w = np.where(x[:, 0] > 0, 1.0, 0.3)
x_train, y_train, w_train = x[:161], y[:161], w[:161]
x_val, y_val, w_val = x[161:], y[161:], w[161:]

inputs = keras.Input((6,))
outputs = layers.Dense(1)(layers.Dense(15, activation="selu")(inputs))
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.RMSprop(0.01), loss="mse", metrics=["mae"])

best, best_weights, waited = np.inf, None, 0
for epoch in range(6):
    model.reset_metrics()
    for xb, yb, wb in iterate(x_train, y_train, w_train, 28, shuffle=True):
        loss, mae = model.train_on_batch(xb, yb, sample_weight=wb)
    # the figures are those of the whole epoch so far
    model.reset_metrics()
    for xb, yb, wb in iterate(x_val, y_val, w_val, 28, shuffle=False):
        logs = model.test_on_batch(xb, yb, sample_weight=wb, return_dict=True)
    print("{:d}  {:.10f} {:.10f}  {:.10f} {:.10f}".format(epoch, loss, mae, logs["loss"], logs["mae"]))
    if logs["loss"] < 0.97 * best:
        best, best_weights, waited = logs["loss"], model.get_weights(), 0
    else:
        waited += 1
        if waited == 2:
            print("no progress for two epochs")
            break

model.set_weights(best_weights)
print("best %.10f, norm %.10f" % (best, np.sqrt(sum((v ** 2).sum() for v in best_weights))))
model.save_weights("best.weights.h5")
