"""Own callbacks: cyclic learning rate by batch, a validation score by predict in on_epoch_end, stop at a target."""
import numpy as np
import tensorflow as tf
from sklearn.metrics import f1_score
from tensorflow import keras
from tensorflow.keras import backend as K


class CyclicLR(keras.callbacks.Callback):
    def __init__(self, low, high, period):
        super().__init__()
        self.low, self.high, self.period = low, high, period
        self.step = 0
        self.rates = []

    def on_train_batch_begin(self, batch, logs=None):
        phase = abs((self.step % self.period) / self.period * 2 - 1)
        rate = self.low + (self.high - self.low) * (1 - phase)
        K.set_value(self.model.optimizer.lr, rate)
        self.rates.append(rate)
        self.step += 1


class F1(keras.callbacks.Callback):
    """Macro F1 on the validation set; stops when it is good enough or the loss rises twice."""

    def __init__(self, data, target):
        super().__init__()
        self.data, self.target = data, target
        self.scores, self.losses = [], []

    def on_epoch_end(self, epoch, logs=None):
        x, y = self.data
        guess = (self.model.predict(x, verbose=0) > 0.5).astype(int).ravel()
        self.scores.append(f1_score(y, guess, average='macro'))
        self.losses.append(logs['loss'])
        print('epoch %d loss %.10f f1 %.10f lr %.6f' % (epoch, logs['loss'], self.scores[-1],
                                                        K.get_value(self.model.optimizer.lr)))
        rising = len(self.losses) > 2 and self.losses[-1] > self.losses[-2] > self.losses[-3]
        if self.scores[-1] > self.target or rising:
            print('stop')
            self.model.stop_training = True


K.set_floatx('float64')
tf.keras.utils.set_random_seed(86)
x = np.random.normal(size=(219, 6))
y = (np.sin(2 * x[:, 0]) + x[:, 1] > 0).astype(int)

model = keras.models.Sequential([keras.layers.Dense(18, activation='relu'), keras.layers.Dense(1, activation='sigmoid')])
model.compile('sgd', loss='binary_crossentropy', metrics=['AUC'])
cyclic = CyclicLR(0.05, 0.6, 7)
history = model.fit(x[:170], y[:170], batch_size=24, epochs=8, verbose=0,
                    callbacks=[cyclic, F1((x[170:], y[170:]), 0.82)])
print('epochs', len(history.history['loss']), 'steps', len(cyclic.rates), 'mean rate %.10f' % np.mean(cyclic.rates))
model.save_weights('cyclic.h5')
