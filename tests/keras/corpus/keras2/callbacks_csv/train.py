"""Early stopping, plateau, best and periodic checkpoints, CSV log on a functional model; loads the best at the end."""
import os
os.environ['TF_CPP_MIN_LOG_LEVEL'] = '2'

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(33)


def make_data():
    t = np.random.uniform(-2, 2, size=(223, 4))
    y = t[:, 0] ** 2 - t[:, 1] * t[:, 2] + 0.7 * np.random.normal(size=223)
    return (t[:150], y[:150]), (t[150:], y[150:])


def get_model(units=20):
    inp = layers.Input(shape=(4,))
    h = layers.Dense(units, activation='relu')(inp)
    skip = layers.Dense(units)(inp)
    h = layers.Add()([h, skip])
    h = layers.Dense(units, activation='relu')(h)
    return keras.Model(inp, layers.Dense(1)(h))


if __name__ == '__main__':
    (x, y), val = make_data()
    model = get_model()
    model.compile(loss='mse', optimizer=keras.optimizers.legacy.Adam(learning_rate=0.05), metrics=['mae'])
    os.makedirs('out', exist_ok=True)
    history = model.fit(
        x, y,
        batch_size=41,
        epochs=16,
        validation_data=val,
        verbose=0,
        callbacks=[
            keras.callbacks.EarlyStopping(monitor='val_loss', patience=3, restore_best_weights=True, verbose=1),
            keras.callbacks.ReduceLROnPlateau(monitor='val_loss', factor=0.2, patience=1, verbose=0),
            keras.callbacks.ModelCheckpoint('out/best.h5', save_best_only=True, save_weights_only=True),
            keras.callbacks.ModelCheckpoint('out/{epoch:02d}.h5', save_weights_only=True),
            keras.callbacks.CSVLogger('out/log.csv', separator=','),
        ])
    for epoch, row in enumerate(zip(*history.history.values())):
        print(epoch, dict(zip(history.history, ('%.10f' % v for v in row))))
    print('files', len([f for f in os.listdir('out') if f.endswith('.h5')]))

    fresh = get_model()
    fresh.load_weights('out/best.h5')
    difference = np.abs(fresh.predict(val[0], verbose=0) - model.predict(val[0], verbose=0)).max()
    print('best and restored differ by', difference)
    model.save_weights('out/final.h5')
