"""Small transformer that tags every token; masked accuracy and loss of its own; AdamW with CosineDecay."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

VOCAB, LENGTH, TAGS, WIDTH = 20, 7, 3, 8


def sentences(n, seed):
    rng = np.random.default_rng(seed)
    tokens = rng.integers(1, VOCAB, size=(n, LENGTH))
    lengths = rng.integers(3, LENGTH + 1, size=n)
    tags = (tokens + np.roll(tokens, 1, axis=1)) % TAGS
    padding = np.arange(LENGTH) >= lengths[:, None]
    tokens[padding], tags[padding] = 0, -1
    return tokens, tags


def masked_loss(y_true, y_pred):
    """Mean over the words of the batch that are no padding."""
    y_true = tf.cast(y_true, tf.int32)
    mask = tf.cast(y_true >= 0, y_pred.dtype)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.maximum(y_true, 0), logits=y_pred)
    return tf.reduce_sum(loss * mask) / tf.reduce_sum(mask)


def masked_accuracy(y_true, y_pred):
    y_true = tf.cast(y_true, tf.int64)
    right = tf.cast(y_true == tf.argmax(y_pred, axis=-1), tf.float64)
    mask = tf.cast(y_true >= 0, tf.float64)
    return tf.reduce_sum(right * mask) / tf.reduce_sum(mask)


class Position(layers.Layer):
    def build(self, shape):
        self.table = self.add_weight('table', shape=(shape[1], shape[2]), initializer='random_normal')

    def call(self, x):
        return x + self.table


keras.backend.set_floatx('float64')
keras.utils.set_random_seed(83)
inputs = keras.Input((LENGTH,), dtype='int32')
x = Position()(layers.Embedding(VOCAB, WIDTH)(inputs))
attended = layers.MultiHeadAttention(num_heads=2, key_dim=4)(x, x)
x = layers.LayerNormalization()(x + attended)
x = layers.LayerNormalization()(x + layers.Dense(WIDTH)(layers.Dense(16, activation='gelu')(x)))
model = keras.Model(inputs, layers.Dense(TAGS)(x))

tokens, tags = sentences(155, 0)
schedule = keras.optimizers.schedules.CosineDecay(0.02, decay_steps=20)
model.compile(keras.optimizers.AdamW(schedule, weight_decay=0.004), loss=masked_loss, metrics=[masked_accuracy])
history = model.fit(tokens, tags, batch_size=30, epochs=3, validation_data=sentences(40, 1), verbose=0)
for key, values in history.history.items():
    print(key, ['%.10f' % v for v in values])
logits = model.predict(tokens[:33], verbose=0)
print('logits %.10f' % np.abs(logits).sum())
model.save_weights('tagger.h5')
