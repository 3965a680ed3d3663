"""Endless Python generator with steps_per_epoch and validation_steps, two calls of fit (initial_epoch)."""
import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np
from keras import layers

jax.config.update("jax_enable_x64", True)
keras.config.set_floatx("float64")
keras.utils.set_random_seed(11)

STEPS = 6


def waves(batch_size, seed):
    """Noisy sine waves; the target is their frequency. Every fourth batch is a short one."""
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 1, 20)
    count = 0
    while True:
        size = batch_size - 5 if count % 4 == 3 else batch_size
        frequency = rng.uniform(1, 4, size=(size, 1))
        phase = rng.uniform(0, np.pi, size=(size, 1))
        x = np.sin(2 * np.pi * frequency * t + phase) + 0.05 * rng.standard_normal((size, 20))
        count += 1
        yield x[..., None], frequency


model = keras.Sequential(
    [
        keras.Input((20, 1)),
        layers.Conv1D(6, 5, activation="relu", padding="same"),
        layers.MaxPooling1D(2),
        layers.Conv1D(8, 3, activation="relu"),
        layers.GlobalAveragePooling1D(),
        layers.Dense(1),
    ]
)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mean_squared_error", metrics=["mae"])

train, val = waves(13, 0), waves(10, 1)
first = model.fit(train, steps_per_epoch=STEPS, epochs=2, validation_data=val, validation_steps=3, verbose=0)
print("first ", [f"{v:.10f}" for v in first.history["loss"]], [f"{v:.10f}" for v in first.history["val_mae"]])

# a bit more, with a smaller step
model.optimizer.learning_rate = 0.003
second = model.fit(train, steps_per_epoch=STEPS, epochs=4, initial_epoch=2, validation_data=val,
                   validation_steps=3, verbose=0)
print("second", second.epoch, [f"{v:.10f}" for v in second.history["loss"]])
loss, mae = model.evaluate(waves(7, 2), steps=4, verbose=0)
print("evaluated: {:.10f} {:.10f}".format(loss, mae))
guesses = model.predict(waves(9, 3), steps=2, verbose=0)
print(guesses.shape, "%.10f" % guesses.sum())
model.save_weights("waves.weights.h5")
