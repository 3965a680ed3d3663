# A series cut into ten strands; the state goes on from batch to batch, strand by strand.
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np
import keras
from keras.layers import LSTM, Dense, Input
from keras.models import Sequential

keras.config.set_floatx("float64")
keras.utils.set_random_seed(8)
batch_size = 10
series = np.sin(np.linspace(0, 60, 611))
x = series[:600].reshape(batch_size, 60, 1).swapaxes(0, 1).reshape(600, 1, 1)
y = series[1:601].reshape(batch_size, 60, 1).swapaxes(0, 1).reshape(600, 1)

model = Sequential()
model.add(Input(batch_shape=(batch_size, 1, 1)))
model.add(LSTM(8, stateful=True))
model.add(Dense(1))
model.compile(loss="mse", optimizer="adam")
for epoch in range(2):
    history = model.fit(x, y, batch_size=batch_size, epochs=1, shuffle=False, verbose=0)
    print("%.10f" % history.history["loss"][0])
    model.layers[0].reset_state()
model.save_weights("strands.weights.h5")
