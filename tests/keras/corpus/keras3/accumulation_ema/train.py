"""Optimizer options: gradient_accumulation_steps, use_ema with overwriting, global_clipnorm; SwapEMAWeights."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np
import keras
from keras import layers

keras.config.set_floatx("float64")
SEED = 90


def data():
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=(187, 6))
    y = np.stack([x[:, 0] * x[:, 1], np.cos(x[:, 2])], axis=1)
    return x, y


def network():
    return keras.Sequential([layers.Input((6,)), layers.Dense(20, "softplus"), layers.Dense(2)])


def run(name, optimizer, callbacks=()):
    keras.utils.set_random_seed(SEED)
    x, y = data()
    model = network()
    model.compile(loss=keras.losses.LogCosh(), optimizer=optimizer)
    history = model.fit(x, y, batch_size=20, epochs=3, validation_split=0.2, callbacks=list(callbacks), verbose=0)
    print(name)
    print("  loss    ", " ".join(f"{v:.10f}" for v in history.history["loss"]))
    print("  val_loss", " ".join(f"{v:.10f}" for v in history.history["val_loss"]))
    print("  norm    ", f"{sum(np.square(w).sum() for w in model.get_weights()):.10f}")
    model.save_weights(f"{name}.weights.h5")


run("accumulated", keras.optimizers.Adam(0.02, gradient_accumulation_steps=3, clipnorm=0.5))
run("averaged", keras.optimizers.SGD(0.1, momentum=0.9, use_ema=True, ema_momentum=0.8, ema_overwrite_frequency=5))
run("swapped", keras.optimizers.Nadam(0.01, use_ema=True, ema_momentum=0.7, global_clipnorm=1.0),
    [keras.callbacks.SwapEMAWeights(swap_on_epoch=True)])
