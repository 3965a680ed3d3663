# refused: nothing is trained: models are built, compiled and counted, and never fitted
import os
os.environ["KERAS_BACKEND"] = "jax"

import keras
from keras import layers


def make(width, depth):
    model = keras.Sequential([keras.Input((32,))])
    for _ in range(depth):
        model.add(layers.Dense(width, activation="relu"))
    model.add(layers.Dense(10, activation="softmax"))
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


for width in (16, 32, 64):
    for depth in (1, 2, 3):
        print(width, depth, make(width, depth).count_params())
make(16, 2).save("untrained.keras")
