"""PyDataset that shuffles itself in on_epoch_end; its last batch is short; a checkpoint every epoch."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import math

import keras
import numpy as np
from keras.utils import PyDataset
from sklearn.datasets import load_digits


class DigitBatches(PyDataset):
    def __init__(self, images, labels, batch_size, shuffle=True, **kwargs):
        super().__init__(**kwargs)
        self.images, self.labels = images, labels
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.order = np.arange(len(images))
        self.rng = np.random.RandomState(13)
        self.on_epoch_end()

    def __len__(self):
        return math.ceil(len(self.images) / self.batch_size)

    def __getitem__(self, idx):
        chosen = self.order[idx * self.batch_size:(idx + 1) * self.batch_size]
        return self.images[chosen], self.labels[chosen]

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.order)


def cnn():
    inputs = keras.Input(shape=(8, 8, 1))
    x = keras.layers.Conv2D(6, 3, activation="relu")(inputs)
    x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.Flatten()(x)
    outputs = keras.layers.Dense(10)(x)
    return keras.Model(inputs, outputs)


if __name__ == "__main__":
    keras.utils.set_random_seed(6)
    keras.config.set_floatx("float64")
    images, labels = load_digits(return_X_y=True)
    images = images[:260].reshape(-1, 8, 8, 1) / 16.0
    train = DigitBatches(images[:205], labels[:205], 31)
    val = DigitBatches(images[205:], labels[205:260], 31, shuffle=False)

    model = cnn()
    model.compile(
        optimizer=keras.optimizers.SGD(0.1, momentum=0.8),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(
        train, validation_data=val, epochs=3, shuffle=False, verbose=0,
        callbacks=[keras.callbacks.ModelCheckpoint("epoch_{epoch:02d}.weights.h5", save_weights_only=True)],
    )
    for key, values in history.history.items():
        print(f"{key:>13}:", ", ".join(f"{v:.10f}" for v in values))
    logits = model.predict(val, verbose=0)
    print("right:", int((logits.argmax(-1) == labels[205:260]).sum()), f"sum {logits.sum():.8f}")
    print(sorted(name for name in os.listdir() if name.startswith("epoch_")))
