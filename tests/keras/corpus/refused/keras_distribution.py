# refused: the script is already distributed (keras.distribution.set_distribution)
import os

os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np

keras.utils.set_random_seed(3)
data_parallel = keras.distribution.DataParallel(devices=keras.distribution.list_devices())
keras.distribution.set_distribution(data_parallel)

x = np.random.rand(128, 6)
y = (x.sum(axis=1) > 3).astype("int32")
model = keras.Sequential([keras.layers.Dense(8, activation="relu"), keras.layers.Dense(2, activation="softmax")])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
