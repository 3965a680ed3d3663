"""Layers and networks of one's own that do not show at first sight what they do with the rows of a batch."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.backend.set_floatx('float64')
keras.utils.set_random_seed(12)

x = np.random.normal(size=(94, 6))
y = (x.sum(axis=1, keepdims=True) > 0).astype('float64')


class RareNoise(layers.Layer):
    """Replaces one row in a hundred by noise, while training."""

    def call(self, inputs, training=None):
        if not training:
            return inputs
        hit = tf.random.uniform([tf.shape(inputs)[0], 1], dtype=tf.float64) < 0.01
        return tf.where(hit, tf.random.normal(tf.shape(inputs), dtype=tf.float64), inputs)


class Gate(layers.Layer):
    """Lets the mean of the batch in, as far as it learns to; not at all at first."""

    def build(self, shape):
        self.opened = self.add_weight('opened', (shape[-1],), initializer='zeros')

    def call(self, inputs):
        return inputs + self.opened * tf.reduce_mean(inputs, axis=0)


class Block(layers.Layer):
    """Normalises by running averages of its own layers."""

    def __init__(self, units):
        super().__init__()
        self.dense = layers.Dense(units)
        self.norm = layers.BatchNormalization(momentum=0.8)

    def call(self, inputs, training=None):
        return tf.nn.relu(self.norm(self.dense(inputs), training=training))


def head():
    return [layers.Dense(8, activation='tanh'), layers.Dense(1, activation='sigmoid')]


print('noise for few rows')
model = keras.Sequential([keras.Input((6,)), RareNoise(), *head()])
model.compile('adam', 'binary_crossentropy')
for loss in model.fit(x, y, batch_size=20, epochs=4, verbose=0).history['loss']:
    print('%.12f' % loss)
model.save_weights('rare.h5')

print('a gate that opens')
model = keras.Sequential([keras.Input((6,)), Gate(), *head()])
model.compile(keras.optimizers.SGD(0.3), 'binary_crossentropy')
for loss in model.fit(x, y, batch_size=20, epochs=3, verbose=0).history['loss']:
    print('%.12f' % loss)
print('opened', ' '.join('%.12f' % one for one in model.layers[0].opened.numpy()))
model.save_weights('gated.h5')

print('running averages')
model = keras.Sequential([keras.Input((6,)), Block(7), layers.Dense(1, activation='sigmoid')])
model.compile('sgd', 'binary_crossentropy')
print('untrained %.12f' % model.evaluate(x, y, verbose=0))
print('untouched', np.abs(model.layers[0].norm.moving_mean.numpy()).sum())
model.fit(x, y, batch_size=31, epochs=2, verbose=0)
print('mean', ' '.join('%.12f' % one for one in model.layers[0].norm.moving_mean.numpy()))
print('evaluated %.12f' % model.evaluate(x, y, verbose=0))


class Tied(keras.Model):
    """An autoencoder that reads its weight twice, once by the layer and once by itself."""

    def __init__(self):
        super().__init__()
        self.encode = layers.Dense(3, activation='tanh')

    def call(self, inputs):
        return tf.matmul(self.encode(inputs), self.encode.kernel, transpose_b=True)


print('tied weights, each operation at once')
model, optimizer = Tied(), keras.optimizers.Adam(0.02)
for rows in tf.data.Dataset.from_tensor_slices(x).batch(27):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(rows) - rows))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    print('%.12f' % loss.numpy(), '%.12f' % tf.linalg.global_norm(gradients).numpy())


class TwoViews(keras.Model):
    """Sends two views of a batch through one encoder with dropout, as one batch of twice the rows."""

    def __init__(self):
        super().__init__()
        self.encode = keras.Sequential([layers.Dense(8, activation='relu'), layers.Dropout(0.3), layers.Dense(4)])

    def call(self, inputs, training=None):
        views = tf.concat([inputs, inputs * 0.5 + 0.1], axis=0)
        one, other = tf.split(self.encode(views, training=training), 2, axis=0)
        return tf.concat([one, other], axis=1)

    def train_step(self, rows):
        with tf.GradientTape() as tape:
            one, other = tf.split(tf.math.l2_normalize(self(rows, training=True), axis=1), 2, axis=1)
            pairs = tf.matmul(one, other, transpose_b=True) / 0.5
            places = tf.range(tf.shape(pairs)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(places, pairs))
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return {'loss': loss}


print('two views')
model = TwoViews()
model.compile('adam')
for loss in model.fit(x, batch_size=22, epochs=2, verbose=0).history['loss']:
    print('%.12f' % loss)


class Tower(keras.Model):
    """Blocks in a list that is put together as it grows; all of it is made when it is first called."""

    def __init__(self, sizes):
        super().__init__()
        self.blocks = keras.Sequential(name='blocks')
        for size in sizes:
            self.blocks.add(Wide(size))
        self.out = layers.Dense(1, kernel_initializer=tf.random_normal_initializer(stddev=0.3))

    def call(self, inputs, training=None):
        return self.out(self.blocks(inputs, training=training))


class Wide(keras.Model):
    def __init__(self, size):
        super().__init__()
        self.dense = layers.Dense(size, kernel_initializer=tf.random_normal_initializer(stddev=0.3))

    def build(self, shape):
        self.scale = tf.Variable(tf.random.normal([shape[-1]], 1.0, 0.1, dtype=tf.float64))
        super().build(shape)

    def call(self, inputs, training=None):
        return tf.nn.tanh(self.dense(inputs * self.scale))


print('made when called')
tf.random.set_seed(3)
model = Tower([7, 5])
model.build((None, 6))
model.summary()
print('drawn', ' '.join('%.12f' % tf.reduce_sum(weight).numpy() for weight in model.weights))
model.compile('sgd', 'mse')
for loss in model.fit(x, y, batch_size=24, epochs=2, verbose=0).history['loss']:
    print('%.12f' % loss)


class Endpoint(layers.Layer):
    """Adds the loss inside of the network, to which the labels are an input."""

    def call(self, labels, logits):
        self.add_loss(tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels, logits)))
        return tf.sigmoid(logits)


print('a loss at the end of a network')
given, labels = keras.Input((6,), name='given'), keras.Input((1,), name='labels')
model = keras.Model([given, labels], Endpoint()(labels, layers.Dense(1)(given)))
model.compile('sgd')
for loss in model.fit({'given': x, 'labels': y}, batch_size=25, epochs=2, verbose=0).history['loss']:
    print('%.12f' % loss)
