"""Variational autoencoder: a sampling layer with its own SeedGenerator adds the KL term with add_loss."""
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import keras
import numpy as np
from keras import layers, ops
from sklearn.datasets import load_digits

keras.config.set_floatx("float64")
keras.utils.set_random_seed(314)


class Sampling(layers.Layer):
    """Uses (z_mean, z_log_var) to sample z, the vector encoding a digit."""

    def __init__(self, weight=1.0, **kwargs):
        super().__init__(**kwargs)
        self.weight = weight
        self.seed_generator = keras.random.SeedGenerator(1337)

    def call(self, inputs):
        z_mean, z_log_var = inputs
        kl = -0.5 * ops.mean(ops.sum(1 + z_log_var - ops.square(z_mean) - ops.exp(z_log_var), axis=1))
        self.add_loss(self.weight * kl)
        epsilon = keras.random.normal(shape=ops.shape(z_mean), seed=self.seed_generator)
        return z_mean + ops.exp(0.5 * z_log_var) * epsilon


LATENT_DIM = 2

encoder_inputs = keras.Input(shape=(64,))
x = layers.Dense(20, activation="relu")(encoder_inputs)
z_mean = layers.Dense(LATENT_DIM, name="z_mean")(x)
z_log_var = layers.Dense(LATENT_DIM, name="z_log_var")(x)
z = Sampling(weight=0.01)([z_mean, z_log_var])
encoder = keras.Model(encoder_inputs, [z_mean, z_log_var, z], name="encoder")

latent_inputs = keras.Input(shape=(LATENT_DIM,))
x = layers.Dense(20, activation="relu")(latent_inputs)
decoder = keras.Model(latent_inputs, layers.Dense(64, activation="sigmoid")(x), name="decoder")

vae = keras.Model(encoder_inputs, decoder(encoder(encoder_inputs)[2]), name="vae")
vae.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")

images = load_digits().data[:213] / 16.0
history = vae.fit(images, images, epochs=3, batch_size=40, verbose=0)
print("loss", [f"{v:.10f}" for v in history.history["loss"]])

codes, _, _ = encoder.predict(images[:50], verbose=0)
grid = decoder.predict(np.array([[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]), verbose=0)
print("codes", f"{np.abs(codes).sum():.10f}", "grid", f"{grid.sum():.10f}")
np.save("codes.npy", codes)
vae.save_weights("vae.weights.h5")
