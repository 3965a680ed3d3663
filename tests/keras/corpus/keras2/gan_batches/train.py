"""GAN class in the old style: discriminator.trainable = False before the combined model is compiled, train_on_batch."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input, LeakyReLU
from tensorflow.keras.models import Model, Sequential
from tensorflow.keras.optimizers import Adam


class GAN():
    def __init__(self):
        self.latent_dim = 4
        optimizer = Adam(0.002, 0.5)

        self.discriminator = self.build_discriminator()
        self.discriminator.compile(loss='binary_crossentropy', optimizer=optimizer, metrics=['accuracy'])

        self.generator = self.build_generator()
        z = Input(shape=(self.latent_dim,))
        img = self.generator(z)
        # For the combined model we will only train the generator
        self.discriminator.trainable = False
        validity = self.discriminator(img)
        self.combined = Model(z, validity)
        self.combined.compile(loss='binary_crossentropy', optimizer=Adam(0.002, 0.5))

    def build_generator(self):
        model = Sequential()
        model.add(Dense(16, input_dim=self.latent_dim))
        model.add(LeakyReLU(alpha=0.2))
        model.add(Dense(3, activation='tanh'))
        return model

    def build_discriminator(self):
        model = Sequential()
        model.add(Dense(16, input_dim=3))
        model.add(LeakyReLU(alpha=0.2))
        model.add(Dense(1, activation='sigmoid'))
        return model

    def train(self, x, epochs, batch_size, sample_interval):
        for epoch in range(epochs):
            idx = np.random.randint(0, x.shape[0], batch_size)
            noise = np.random.normal(0, 1, (batch_size, self.latent_dim))
            gen = self.generator.predict(noise, verbose=0)
            d_loss_real = self.discriminator.train_on_batch(x[idx], np.ones((batch_size, 1)))
            d_loss_fake = self.discriminator.train_on_batch(gen, np.zeros((batch_size, 1)))
            d_loss = 0.5 * np.add(d_loss_real, d_loss_fake)

            noise = np.random.normal(0, 1, (batch_size, self.latent_dim))
            g_loss = self.combined.train_on_batch(noise, np.ones((batch_size, 1)))
            if epoch % sample_interval == 0:
                print("%d [D loss: %.10f, acc.: %.4f%%] [G loss: %.10f]" % (epoch, d_loss[0], 100 * d_loss[1], g_loss))


if __name__ == '__main__':
    tf.keras.backend.set_floatx('float64')
    tf.keras.utils.set_random_seed(10)
    t = np.random.uniform(-1, 1, 90)
    curve = np.stack([t, t ** 2, t ** 3], axis=1)
    gan = GAN()
    gan.train(curve, epochs=9, batch_size=25, sample_interval=2)
    print('distance %.10f' % gan.combined.test_on_batch(np.random.normal(size=(11, 4)), np.ones((11, 1))))
    gan.generator.save_weights('generator.h5')
