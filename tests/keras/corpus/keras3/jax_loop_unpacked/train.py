"""Trainer class around a compiled step; denoises digits."""
import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)

import keras
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

keras.config.set_floatx("float64")
keras.utils.set_random_seed(9)


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        optimizer.build(model.trainable_variables)
        self.state = (
            [v.value for v in model.trainable_variables],
            [v.value for v in model.non_trainable_variables],
            [v.value for v in optimizer.variables],
        )
        self.step = jax.jit(self._step)

    def _loss(self, trainable, fixed, x, target, key):
        noisy = x + 0.1 * jax.random.normal(key, x.shape)
        output, fixed = self.model.stateless_call(trainable, fixed, noisy, training=True)
        return jnp.mean((output - target) ** 2), fixed

    def _step(self, state, x, target, key):
        trainable, fixed, slots = state
        gradient = jax.value_and_grad(self._loss, has_aux=True)
        (loss, fixed), grads = gradient(trainable, fixed, x, target, key)
        trainable, slots = self.optimizer.stateless_apply(slots, grads, trainable)
        return loss, (trainable, fixed, slots)

    def train(self, data, epochs, key):
        for epoch in range(epochs):
            losses = []
            for batch, one in zip(data, jax.random.split(jax.random.fold_in(key, epoch), 6)):
                x = batch["image"]
                x = jnp.asarray(x.numpy()).astype("float64")
                loss, self.state = self.step(self.state, x, batch["clean"].numpy(), one)
                losses.append(float(loss))
            print("epoch", epoch, "loss", f"{np.mean(losses):.10f}", "steps", len(losses))


images = load_digits(n_class=4)["data"][:90] / 16
data = tf.data.Dataset.from_tensor_slices({"image": images, "clean": images}).batch(18)
model = keras.Sequential(
    [
        keras.Input((64,)),
        keras.layers.Dense(24, activation="relu"),
        keras.layers.BatchNormalization(),
        keras.layers.Dense(64),
    ]
)
trainer = Trainer(model, keras.optimizers.Adam(0.01))
trainer.train(data, 3, jax.random.key(2))
for variable, value in zip(model.trainable_variables, trainer.state[0]):
    variable.assign(value)
print("weights", f"{sum(float(jnp.abs(v.value).sum()) for v in model.trainable_variables):.10f}")
