"""GAN with train_on_batch: a discriminator and a combined model through a frozen discriminator."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np
import keras
from keras.layers import Dense, Input, LeakyReLU
from keras.models import Model, Sequential
from keras.optimizers import Adam

keras.config.set_floatx('float64')
keras.utils.set_random_seed(66)

LATENT = 5
BATCH = 25

# points on a ring
angle = np.random.uniform(0, 2 * np.pi, 115)
real_points = np.stack([np.cos(angle), np.sin(angle)], axis=1) + 0.05 * np.random.normal(size=(115, 2))


def make_generator():
    return Sequential([Input((LATENT,)), Dense(12), LeakyReLU(0.2), Dense(2)], name='generator')


def make_discriminator():
    return Sequential([Input((2,)), Dense(12), LeakyReLU(0.2), Dense(1, activation='sigmoid')],
                      name='discriminator')


generator = make_generator()
discriminator = make_discriminator()
discriminator.compile(loss='binary_crossentropy', optimizer=Adam(0.004, beta_1=0.5), metrics=['accuracy'])

# for the combined model only the generator is trained
frozen = make_discriminator()
frozen.trainable = False
z = Input((LATENT,))
combined = Model(z, frozen(generator(z)))
combined.compile(loss='binary_crossentropy', optimizer=Adam(0.004, beta_1=0.5))

for epoch in range(2):
    order = np.random.permutation(len(real_points))
    for start in range(0, len(real_points), BATCH):
        real = real_points[order[start:start + BATCH]]
        n = len(real)
        fake = generator.predict_on_batch(np.random.normal(size=(n, LATENT)))
        d_real = discriminator.train_on_batch(real, np.ones((n, 1)))
        d_fake = discriminator.train_on_batch(fake, np.zeros((n, 1)))
        frozen.set_weights(discriminator.get_weights())
        g_loss = combined.train_on_batch(np.random.normal(size=(n, LATENT)), np.ones((n, 1)))
    print('%d [D loss: %.10f %.10f acc: %.6f] [G loss: %.10f]'
          % (epoch, d_real[0], d_fake[0], d_fake[1], g_loss))

samples = generator.predict(np.random.normal(size=(40, LATENT)), verbose=0)
print('radius', '%.10f' % np.linalg.norm(samples, axis=1).mean())
np.save('samples.npy', samples)
generator.save('generator.keras')
