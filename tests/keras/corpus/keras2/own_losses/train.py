"""Own loss function with a parameter, own metric class and metric function, sample weights."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
import tensorflow.keras.backend as K

tf.keras.utils.set_random_seed(12)
K.set_floatx('float64')


def quantile_loss(q):
    def loss(y_true, y_pred):
        e = y_true - y_pred
        return K.mean(K.maximum(q * e, (q - 1) * e), axis=-1)
    return loss


class FocalMSE(keras.losses.Loss):
    def __init__(self, gamma=1.0, name='focal_mse'):
        super().__init__(name=name)
        self.gamma = gamma

    def call(self, y_true, y_pred):
        error = tf.abs(y_true - y_pred)
        return tf.reduce_mean(error ** (2 + self.gamma), axis=-1)


class Coverage(keras.metrics.Metric):
    """How often the truth lies below the predicted quantile."""

    def __init__(self, name='coverage', **kwargs):
        super().__init__(name=name, **kwargs)
        self.below = self.add_weight(name='below', initializer='zeros')
        self.total = self.add_weight(name='total', initializer='zeros')

    def update_state(self, y_true, y_pred, sample_weight=None):
        inside = tf.cast(y_true <= y_pred, self.dtype)
        self.below.assign_add(tf.reduce_sum(inside))
        self.total.assign_add(tf.cast(tf.size(inside), self.dtype))

    def result(self):
        return self.below / self.total

    def reset_state(self):
        self.below.assign(0.0)
        self.total.assign(0.0)


def mean_pred(y_true, y_pred):
    return K.mean(y_pred)


def train(loss, weights):
    model = keras.Sequential([keras.layers.Dense(12, activation='relu'), keras.layers.Dense(1)])
    model.compile(loss=loss, optimizer=keras.optimizers.RMSprop(1e-2),
                  metrics=[Coverage(), mean_pred], weighted_metrics=['mse'])
    h = model.fit(x, y, sample_weight=weights, batch_size=30, epochs=3, verbose=0)
    for key, values in h.history.items():
        print('%-10s' % key, *('%.10f' % v for v in values))
    return model


x = np.random.rand(163, 3)
y = x.sum(axis=1, keepdims=True) + np.random.exponential(0.3, size=(163, 1))
weights = np.linspace(0.5, 1.5, 163)
upper = train(quantile_loss(0.9), weights)
print('--')
train(FocalMSE(0.5), None)
upper.save_weights('upper.h5')
