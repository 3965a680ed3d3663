# refused: the state of a stateful LSTM goes from row i of a batch to row i of the next; a fixed batch_size is part of the model
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Dense
from tensorflow.keras.models import Sequential

tf.keras.utils.set_random_seed(8)
batch_size = 10
series = np.sin(np.linspace(0, 60, 610))
x = series[:600].reshape(batch_size, 60, 1).swapaxes(0, 1).reshape(600, 1, 1)
y = series[1:601].reshape(batch_size, 60, 1).swapaxes(0, 1).reshape(600, 1)

model = Sequential()
model.add(LSTM(8, batch_input_shape=(batch_size, 1, 1), stateful=True))
model.add(Dense(1))
model.compile(loss="mse", optimizer="adam")
for epoch in range(2):
    history = model.fit(x, y, batch_size=batch_size, epochs=1, shuffle=False, verbose=0)
    print("%.10f" % history.history["loss"][0])
    model.reset_states()
