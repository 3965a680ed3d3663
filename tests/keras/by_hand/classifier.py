"""fit() on tf.data, validation, and callbacks that decide by it."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
draw = np.random.default_rng(4)
x = draw.normal(size=(69, 5))
y = (x[:, :2].sum(1) > 0).astype("float32")
y[49::2] = 1 - y[49::2]  # what gets better for one half gets worse for the other

train = tf.data.Dataset.from_tensor_slices((x[:48], y[:48])).shuffle(48, seed=2).batch(12)
val = tf.data.Dataset.from_tensor_slices((x[48:], y[48:])).batch(12)

model = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(6, activation="tanh"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
optimizer = keras.optimizers.SGD(0.2, momentum=0.9)
model.compile(optimizer, "binary_crossentropy", metrics=["mae"])
callbacks = [
    keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=1, min_delta=0.04),
    keras.callbacks.EarlyStopping("val_loss", patience=2, min_delta=0.02),
    keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True, save_weights_only=True),
]
history = model.fit(train, validation_data=val, epochs=4, callbacks=callbacks, verbose=0)
for name, values in history.history.items():
    print(name, *(f"{value:.10f}" for value in values))
