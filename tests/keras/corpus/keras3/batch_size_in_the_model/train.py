import os
os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(9)


class Flat(layers.Layer):
    def call(self, x):
        return ops.reshape(x, (32, -1))


inputs = keras.Input(batch_shape=(32, 6, 4))
outputs = layers.Dense(1)(Flat()(layers.Conv1D(5, 3, activation="relu")(inputs)))
model = keras.Model(inputs, outputs)
model.compile("adam", "mse")
x = np.random.rand(192, 6, 4)
history = model.fit(x, x.sum(axis=(1, 2)), batch_size=32, epochs=2, verbose=0)
print(history.history["loss"])
