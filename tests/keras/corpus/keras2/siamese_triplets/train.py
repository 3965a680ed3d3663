"""Metric learning: a semi-hard triplet loss over all pairs of the batch, as an own loss function in compile."""
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow.keras import Sequential, layers

tf.keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(41)


def pairwise_distances(embeddings):
    dots = tf.matmul(embeddings, embeddings, transpose_b=True)
    squares = tf.linalg.diag_part(dots)
    return tf.maximum(squares[:, None] - 2.0 * dots + squares[None, :], 0.0)


def batch_hard_triplet(margin):
    def loss(labels, embeddings):
        labels = tf.reshape(labels, [-1])
        distances = pairwise_distances(embeddings)
        same = tf.cast(labels[:, None] == labels[None, :], tf.float64)
        hardest_positive = tf.reduce_max(distances * same, axis=1)
        hardest_negative = tf.reduce_min(distances + 1e3 * same, axis=1)
        return tf.reduce_mean(tf.maximum(hardest_positive - hardest_negative + margin, 0.0))
    return loss


def embedder():
    return Sequential([
        layers.Dense(20, activation='relu', input_shape=(64,)),
        layers.Dense(4),
        layers.Lambda(lambda v: tf.math.l2_normalize(v, axis=1)),
    ])


digits, labels = load_digits(n_class=5, return_X_y=True)
digits = digits / 16
train_x, train_y, test_x, test_y = digits[:169], labels[:169], digits[169:230], labels[169:230]

model = embedder()
model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=batch_hard_triplet(0.4))
history = model.fit(train_x, train_y, batch_size=38, epochs=3, verbose=0)
print('triplet loss', ' '.join('%.10f' % v for v in history.history['loss']))

# classify by the nearest class centre
train_codes, test_codes = model.predict(train_x, verbose=0), model.predict(test_x, verbose=0)
centres = np.stack([train_codes[train_y == c].mean(axis=0) for c in range(5)])
nearest = np.linalg.norm(test_codes[:, None] - centres[None], axis=2).argmin(axis=1)
print('accuracy %.10f' % (nearest == test_y).mean())
np.save('centres.npy', centres)
model.save_weights('embedder.h5')
