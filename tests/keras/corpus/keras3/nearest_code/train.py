"""Learns a codebook for digits; then a classifier on it that looks at the hardest samples only."""
import os

os.environ["KERAS_BACKEND"] = "jax"

import jax

jax.config.update("jax_enable_x64", True)

import keras
from keras import layers, ops
from sklearn.datasets import load_digits

keras.config.set_floatx("float64")
keras.utils.set_random_seed(3)

x, y = load_digits(return_X_y=True)
x, y = x[:173] / 16, y[:173]


class Codebook(layers.Layer):
    def __init__(self, size, width):
        super().__init__()
        self.codes = self.add_weight(shape=(size, width), initializer="random_uniform")

    def call(self, inputs):
        distances = ops.sum((inputs[:, None] - self.codes[None]) ** 2, axis=-1)
        nearest = ops.take(self.codes, ops.argmin(distances, axis=-1), axis=0)
        self.add_loss(ops.mean((ops.stop_gradient(inputs) - nearest) ** 2))
        self.add_loss(0.25 * ops.mean((inputs - ops.stop_gradient(nearest)) ** 2))
        return inputs + ops.stop_gradient(nearest - inputs)


class Autoencoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = layers.Dense(6)
        self.book = Codebook(12, 6)
        self.decoder = layers.Dense(64)

    def call(self, inputs):
        return self.decoder(self.book(self.encoder(inputs)))


def hardest(labels, logits):
    each = keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
    return ops.mean(ops.sort(each)[-7:])


class Classifier(keras.Model):
    def train_step(self, state, data):
        trainable, fixed, optimizer, metrics = state
        gradient = jax.value_and_grad(self.compute_loss_and_updates, has_aux=True)
        (loss, aux), grads = gradient(trainable, fixed, metrics, *data, None, True, optimizer)
        _, _, fixed, metrics = aux
        trainable, optimizer = self.optimizer.stateless_apply(optimizer, grads, trainable)
        return {"loss": loss}, (tuple(trainable), tuple(fixed), tuple(optimizer), tuple(metrics))


autoencoder = Autoencoder()
autoencoder.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
history = autoencoder.fit(x, x, batch_size=50, epochs=3, verbose=0)
print("reconstruction", *(f"{value:.10f}" for value in history.history["loss"]))
print("test", f"{autoencoder.evaluate(x[:31], x[:31], verbose=0):.10f}")
autoencoder.save_weights("codes.weights.h5")

codes = autoencoder.book(autoencoder.encoder(x))
inputs = keras.Input((6,))
outputs = layers.Dense(10)(layers.Dense(16, activation="relu")(inputs))
classifier = Classifier(inputs, outputs)
classifier.compile(optimizer=keras.optimizers.Adam(0.01), loss=hardest)
history = classifier.fit(codes, y, batch_size=50, epochs=3, verbose=0)
print("hardest", *(f"{value:.10f}" for value in history.history["loss"]))
print("right", int((classifier.predict(codes, verbose=0).argmax(axis=1) == y).sum()))
