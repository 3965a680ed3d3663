# refused: the script is already distributed (MultiWorkerMirroredStrategy, TF_CONFIG)
import json
import os

import numpy as np
import tensorflow as tf
from tensorflow import keras

os.environ.setdefault("TF_CONFIG", json.dumps({
    "cluster": {"worker": ["localhost:12345"]},
    "task": {"type": "worker", "index": 0},
}))
strategy = tf.distribute.MultiWorkerMirroredStrategy()


def build():
    model = keras.Sequential([keras.layers.Dense(6, activation="relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model


with strategy.scope():
    model = build()
data = tf.data.Dataset.from_tensor_slices((np.random.rand(90, 3), np.random.rand(90, 1))).batch(30)
model.fit(data, epochs=2, verbose=0)
