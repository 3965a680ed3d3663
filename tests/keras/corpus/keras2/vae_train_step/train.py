"""VAE with own train_step (GradientTape) and metric trackers; random draws in the sampling layer."""
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow import keras
from tensorflow.keras import layers

tf.keras.backend.set_floatx("float64")
tf.keras.utils.set_random_seed(1234)


class Sampling(layers.Layer):
    def call(self, inputs):
        z_mean, z_log_var = inputs
        epsilon = tf.random.normal(shape=tf.shape(z_mean), dtype=tf.float64, seed=5)
        return z_mean + tf.exp(0.5 * z_log_var) * epsilon


class VAE(keras.Model):
    def __init__(self, encoder, decoder, **kwargs):
        super().__init__(**kwargs)
        self.encoder = encoder
        self.decoder = decoder
        self.total_loss_tracker = keras.metrics.Mean(name="total_loss")
        self.reconstruction_loss_tracker = keras.metrics.Mean(name="reconstruction_loss")
        self.kl_loss_tracker = keras.metrics.Mean(name="kl_loss")

    @property
    def metrics(self):
        return [self.total_loss_tracker, self.reconstruction_loss_tracker, self.kl_loss_tracker]

    def train_step(self, data):
        with tf.GradientTape() as tape:
            z_mean, z_log_var, z = self.encoder(data, training=True)
            reconstruction = self.decoder(z, training=True)
            reconstruction_loss = tf.reduce_mean(
                tf.reduce_sum(keras.losses.binary_crossentropy(data, reconstruction)[:, None], axis=1))
            kl_loss = -0.5 * (1 + z_log_var - tf.square(z_mean) - tf.exp(z_log_var))
            kl_loss = tf.reduce_mean(tf.reduce_sum(kl_loss, axis=1))
            total_loss = 64 * reconstruction_loss + kl_loss
        grads = tape.gradient(total_loss, self.trainable_weights)
        self.optimizer.apply_gradients(zip(grads, self.trainable_weights))
        self.total_loss_tracker.update_state(total_loss)
        self.reconstruction_loss_tracker.update_state(reconstruction_loss)
        self.kl_loss_tracker.update_state(kl_loss)
        return {m.name: m.result() for m in self.metrics}


inputs = keras.Input(shape=(64,))
x = layers.Dense(18, activation="relu")(inputs)
mean, log_var = layers.Dense(2, name="z_mean")(x), layers.Dense(2, name="z_log_var")(x)
encoder = keras.Model(inputs, [mean, log_var, Sampling()([mean, log_var])], name="encoder")
decoder = keras.Sequential([keras.Input((2,)), layers.Dense(18, activation="relu"),
                            layers.Dense(64, activation="sigmoid")], name="decoder")

images = load_digits().data[:190] / 16.0
vae = VAE(encoder, decoder)
vae.compile(optimizer=keras.optimizers.Adam(0.005))
history = vae.fit(images, epochs=3, batch_size=36, verbose=0)
for epoch in range(3):
    print(epoch, *("%s=%.10f" % (k, v[epoch]) for k, v in history.history.items()))
codes = encoder.predict(images, verbose=0)[0]
print("spread", "%.10f" % codes.std())
np.save("codes.npy", codes)
decoder.save_weights("decoder.h5")
