"""VAE in the functional style with add_loss, an activation of its own, in-batch centring, batch concatenation."""
import numpy as np, tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers, backend as K
keras.backend.set_floatx('float64'); keras.utils.set_random_seed(5)
x = np.random.rand(75, 6)
inp = keras.Input((6,))
h = layers.Dense(8, activation=lambda t: t - tf.reduce_mean(t, axis=0))(inp)
mean, log_var = layers.Dense(2)(h), layers.Dense(2)(h)
def sampling(args):
    m, v = args
    return m + K.exp(0.5 * v) * K.random_normal(shape=(K.shape(m)[0], 2), dtype='float64')
z = layers.Lambda(sampling)([mean, log_var])
out = layers.Dense(6, activation='sigmoid')(z)
vae = keras.Model(inp, out)
kl = -0.5 * tf.reduce_mean(1 + log_var - tf.square(mean) - tf.exp(log_var))
vae.add_loss(kl * 0.1)
vae.add_metric(kl, name='kl')
vae.compile('adam', 'mse')
h = vae.fit(x, x, epochs=2, batch_size=20, verbose=0)
print({k: ['%.12f' % i for i in v] for k, v in h.history.items()})
class Own(keras.Model):
    def __init__(self):
        super().__init__(); self.a = layers.Dense(5, 'tanh'); self.b = layers.BatchNormalization(); self.c = layers.Dense(1); self.d = layers.Dropout(0.3)
    def call(self, t, training=None):
        t = self.d(self.b(self.a(t), training=training), training=training)
        return self.c(tf.concat([t, t ** 2], axis=-1))
for eager in (False, True):
    keras.utils.set_random_seed(6)
    m = Own(); m.compile('sgd', 'mse', run_eagerly=eager)
    h = m.fit(x, x[:, :1], epochs=2, batch_size=20, verbose=0, validation_split=0.2)
    print({k: ['%.12f' % i for i in v] for k, v in h.history.items()})
    cat = layers.Concatenate(axis=0)
    i = keras.Input((6,)); two = keras.Model(i, cat([layers.Dense(3)(i), layers.Dense(3)(i)]))
    print('%.12f' % two(x[:7]).numpy()[3:9].sum())
m.save_weights('own.h5')
