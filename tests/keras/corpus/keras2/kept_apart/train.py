"""Texts, positions and steps: where the first dimension of a tensor is not the batch, or its length not the row's own."""
import os

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.backend.set_floatx('float64')
keras.utils.set_random_seed(5)

words = np.array('red green blue white black'.split())
texts = np.array([' '.join(np.random.choice(words, size)) for size in np.random.randint(1, 9, 45)])
share = np.array([[text.split().count('red') / len(text.split())] for text in texts])

print('texts of any length')
numbers = layers.TextVectorization(dtype='string')
numbers.adapt(texts)
model = keras.Sequential([
    keras.Input((), dtype='string'), numbers, layers.Embedding(8, 5), layers.GlobalAveragePooling1D(), layers.Dense(1),
])
model.compile(keras.optimizers.Adam(0.05), 'mse')
for loss in model.fit(texts, share, batch_size=13, epochs=2, shuffle=False, verbose=0).history['loss']:
    print('%.12f' % loss)
np.save('texts.npy', model.layers[1].get_weights()[0])


class Positions(layers.Layer):
    """Adds what is learned for each place of a text; a batch has as many texts as a text has places."""

    def __init__(self, places, size):
        super().__init__()
        self.words = layers.Embedding(8, size)
        self.places = layers.Embedding(places, size)

    def call(self, inputs):
        return self.words(inputs) + self.places(tf.range(tf.shape(inputs)[-1]))


codes = np.random.randint(0, 8, (40, 8))
target = (codes[:, :1] == codes[:, -1:]).astype('float64')
print('positions')
for length, at_once in ((8, False), (None, False), (8, True)):
    given = keras.Input((length,), dtype='int64')
    found = layers.GlobalMaxPooling1D()(Positions(8, 4)(given))
    model = keras.Model(given, layers.Dense(1, activation='sigmoid')(found))
    model.compile(keras.optimizers.SGD(0.5), 'binary_crossentropy', run_eagerly=at_once)
    for loss in model.fit(codes, target, batch_size=8, epochs=2 - at_once, verbose=0).history['loss']:
        print('%.12f' % loss)

print('steps first')
series = np.random.normal(size=(26, 5, 3))
given = keras.Input((5, 3))
turned = layers.Lambda(lambda steps: tf.transpose(steps, [1, 0, 2]))(given)
last = layers.LSTM(4, time_major=True)(turned)
model = keras.Model(given, layers.Dense(1)(last))
model.compile('adam', 'mse')
for loss in model.fit(series, series.sum(axis=(1, 2)), batch_size=9, epochs=2, verbose=0).history['loss']:
    print('%.12f' % loss)

print('data that a network makes, ahead of time')
teacher = keras.Sequential([keras.Input((3,)), layers.Dense(4, activation='tanh'), layers.Dense(1)])


def rows():
    draw = np.random.default_rng(8)
    for _ in range(33):
        row = draw.normal(size=3)
        yield row, teacher(row[None])[0].numpy()


kind = tf.TensorSpec((3,), tf.float64), tf.TensorSpec((1,), tf.float64)
data = tf.data.Dataset.from_generator(rows, output_signature=kind).batch(10).prefetch(2)
pupil = keras.Sequential([keras.Input((3,)), layers.Dense(6, activation='relu'), layers.Dropout(0.1), layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.03)


@tf.function
def step(given, wanted):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.abs(pupil(given, training=True) - wanted))
    optimizer.apply_gradients(zip(tape.gradient(loss, pupil.trainable_variables), pupil.trainable_variables))
    return loss


checkpoint = tf.train.Checkpoint(net=pupil, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, 'ckpt', max_to_keep=2)
best = np.inf
for epoch in range(3):
    losses = [step(*batch).numpy() for batch in data]
    print(' '.join('%.12f' % loss for loss in losses))
    if np.mean(losses) < best:
        best = np.mean(losses)
        print('saved', os.path.basename(manager.save()), int(checkpoint.save_counter))
print('kept', [os.path.basename(path) for path in manager.checkpoints])
again = keras.models.clone_model(pupil)
tf.train.Checkpoint(net=again).restore(manager.latest_checkpoint).expect_partial()
print('restored %.12f' % np.abs(again.predict(series[:, 0], verbose=0)).sum())
