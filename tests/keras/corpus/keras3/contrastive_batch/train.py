"""Contrastive loss that compares every sample with all others of its batch; subclassed model with compute_loss."""
import os
os.environ["KERAS_BACKEND"] = "jax"

import jax
jax.config.update("jax_enable_x64", True)
import numpy as np
import keras
import keras.ops as K

keras.config.set_floatx("float64")
keras.utils.set_random_seed(27)


class SimCLR(keras.Model):
    def __init__(self, temperature=0.5):
        super().__init__()
        self.temperature = temperature
        self.encoder = keras.Sequential([keras.layers.Dense(24, activation="relu"), keras.layers.Dense(8)])
        self.projection = keras.layers.Dense(6)

    def call(self, views):
        a, b = views
        return (self.projection(self.encoder(a)), self.projection(self.encoder(b)))

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        a, b = y_pred
        a = K.normalize(a, axis=1)
        b = K.normalize(b, axis=1)
        similarities = K.matmul(a, K.transpose(b)) / self.temperature
        labels = K.arange(K.shape(a)[0])
        one = keras.losses.sparse_categorical_crossentropy(labels, similarities, from_logits=True)
        other = keras.losses.sparse_categorical_crossentropy(labels, K.transpose(similarities), from_logits=True)
        return K.mean(one + other) / 2


rng = np.random.default_rng(2)
cluster = rng.integers(0, 6, 129)
base = rng.normal(size=(6, 15))[cluster] + 0.3 * rng.normal(size=(129, 15))
view_1 = base + 0.1 * rng.normal(size=base.shape)
view_2 = base * rng.uniform(0.8, 1.2, size=base.shape)

model = SimCLR()
model.compile(optimizer=keras.optimizers.Adam(5e-3))
history = model.fit((view_1, view_2), batch_size=24, epochs=3, verbose=0)
print("contrastive loss:", *["%.10f" % v for v in history.history["loss"]])

# nearest neighbour in the learned space
codes = model.encoder.predict(base, verbose=0)
codes /= np.linalg.norm(codes, axis=1, keepdims=True)
similarity = codes @ codes.T - 2 * np.eye(len(codes))
print("1-nn accuracy %.6f" % np.mean(cluster[similarity.argmax(1)] == cluster))
print("similarity %.10f" % similarity.sum())
model.save_weights("simclr.weights.h5")
