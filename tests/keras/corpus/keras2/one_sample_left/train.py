"""97 samples in batches of 16: the last batch is one sample; batch normalisation, the default progress bar."""
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.backend.set_floatx('float64')
keras.utils.set_random_seed(14)

features = np.random.randn(97, 5)
price = 10 + features @ np.array([[1.0], [-2.0], [0.5], [0.0], [3.0]]) + 0.3 * np.random.randn(97, 1)

model = keras.Sequential(name='prices')
model.add(keras.layers.BatchNormalization(input_shape=(5,)))
model.add(keras.layers.Dense(8, activation='relu'))
model.add(keras.layers.BatchNormalization())
model.add(keras.layers.Dense(1, bias_initializer=keras.initializers.Constant(price.mean())))
model.compile(optimizer=keras.optimizers.Adam(0.05), loss='mse', metrics=['mae', 'mape'])

history = model.fit(features, price, batch_size=16, epochs=3)
for epoch in history.epoch:
    print('after %d: mse %.8f mae %.8f mape %.8f' % (epoch, history.history['loss'][epoch],
                                                    history.history['mae'][epoch], history.history['mape'][epoch]))
results = model.evaluate(features, price, batch_size=16)
print('evaluated', [round(r, 8) for r in results])
print('predicted %.8f' % model.predict(features, batch_size=16).sum())
model.save('prices.keras')
