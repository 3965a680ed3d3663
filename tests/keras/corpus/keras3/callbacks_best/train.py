"""Functional model in a function; early stopping, plateau, best checkpoint and CSV log decide and write."""
import os
os.environ['KERAS_BACKEND'] = 'jax'

import csv

import jax
jax.config.update('jax_enable_x64', True)
import numpy as np
import keras
from keras import Input, Model
from keras.callbacks import CSVLogger, EarlyStopping, ModelCheckpoint, ReduceLROnPlateau
from keras.layers import BatchNormalization, Dense, ReLU

keras.config.set_floatx('float64')
keras.utils.set_random_seed(3)


def make_data(n=230):
    rng = np.random.default_rng(17)
    x = rng.normal(size=(n, 9))
    y = np.sin(x[:, 0]) + 0.5 * x[:, 1] * x[:, 2] + 0.8 * rng.normal(size=n)
    return x, y


def build_model(width):
    inputs = Input((9,), name='features')
    h = Dense(width)(inputs)
    h = BatchNormalization()(h)
    h = ReLU()(h)
    h = Dense(width, activation='tanh')(h)
    return Model(inputs, Dense(1)(h), name='regressor')


def main():
    x, y = make_data()
    (x_train, y_train), (x_val, y_val) = (x[:151], y[:151]), (x[151:], y[151:])

    model = build_model(22)
    model.compile(optimizer=keras.optimizers.RMSprop(learning_rate=0.03), loss='mse', metrics=['mae'])
    callbacks = [
        ReduceLROnPlateau(monitor='val_loss', factor=0.3, patience=1, min_delta=1e-3),
        EarlyStopping(monitor='val_loss', patience=3, restore_best_weights=True, verbose=1),
        ModelCheckpoint('best.keras', monitor='val_loss', save_best_only=True),
        CSVLogger('log.csv'),
    ]
    history = model.fit(x_train, y_train, validation_data=(x_val, y_val), batch_size=35,
                        epochs=14, callbacks=callbacks, verbose=0)

    print('stopped after', len(history.epoch), 'epochs')
    for e, (tr, va, lr) in enumerate(zip(history.history['loss'], history.history['val_loss'],
                                         history.history['learning_rate'])):
        print(f'{e:2d} {tr:.10f} {va:.10f} {lr:.6f}')
    with open('log.csv') as file:
        print('rows in the log:', len(list(csv.reader(file))) - 1)

    best = keras.models.load_model('best.keras')
    restored, loaded = model.predict(x_val, verbose=0), best.predict(x_val, verbose=0)
    print('val sum', '%.10f' % restored.sum(), '%.10f' % loaded.sum())


if __name__ == '__main__':
    main()
