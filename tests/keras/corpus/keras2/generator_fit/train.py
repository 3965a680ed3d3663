"""Python generator that shuffles the data itself, steps_per_epoch with a ragged last step, initial_epoch."""
import math

import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import Conv1D, Dense, Flatten
from tensorflow.keras.models import Sequential
from tensorflow.keras.optimizers import Adam

tf.keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(202)

BATCH_SIZE = 14


def data_generator(x, y, batch_size, shuffle=True, seed=0):
    # numbers of its own: Keras asks for batches ahead, from another thread
    rng = np.random.RandomState(seed)
    idx = np.arange(len(x))
    while True:
        if shuffle:
            rng.shuffle(idx)
        for i in range(0, len(x), batch_size):
            part = idx[i:i + batch_size]
            yield x[part], y[part]


series = np.cumsum(np.random.normal(size=150))
series = (series - series.mean()) / series.std()
x = np.stack([series[i:i + 12] for i in range(138)])[..., np.newaxis]
y = series[12:][:, np.newaxis]
x_train, y_train, x_val, y_val = x[:110], y[:110], x[110:], y[110:]
steps = math.ceil(len(x_train) / BATCH_SIZE)

model = Sequential([
    Conv1D(5, 3, activation='relu', input_shape=(12, 1)),
    Flatten(),
    Dense(1),
])
model.compile(loss='mae', optimizer=Adam(0.01))
gen = data_generator(x_train, y_train, BATCH_SIZE)
hist = model.fit(gen, steps_per_epoch=steps, epochs=2, verbose=0,
                 validation_data=data_generator(x_val, y_val, BATCH_SIZE, False), validation_steps=2)
print('loss', hist.history['loss'], 'val_loss', hist.history['val_loss'])

gen = data_generator(x_train, y_train, BATCH_SIZE, seed=1)
hist = model.fit(gen, steps_per_epoch=steps, initial_epoch=2, epochs=4, verbose=0)
print('epochs', hist.epoch, 'loss', hist.history['loss'])
print('validation %.10f' % model.evaluate(x_val, y_val, batch_size=BATCH_SIZE, verbose=0))

# roll out a forecast, one value at a time
window = x_val[-1:].copy()
forecast = []
for _ in range(5):
    value = model.predict(window, verbose=0)
    forecast.append(value[0, 0])
    window = np.concatenate([window[:, 1:], value[:, :, None]], axis=1)
print('forecast', ['%.8f' % v for v in forecast])
model.save_weights('forecast.h5')
