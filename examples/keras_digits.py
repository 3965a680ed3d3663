"""Handwritten digits with Keras on JAX: batch normalisation, dropout, early stopping.

    python examples/keras_digits.py
    trainera run examples/keras_digits.py -n 2
"""

import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(1)

digits = load_digits()
images = digits.images[..., None] / 16

model = keras.Sequential(
    [
        keras.Input((8, 8, 1)),
        layers.Conv2D(16, 3, use_bias=False),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.Flatten(),
        layers.Dropout(0.3),
        layers.Dense(10),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(
    images,
    digits.target,
    batch_size=50,
    epochs=8,
    validation_split=0.2,
    callbacks=[keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True)],
    verbose=2,
)
model.save("digits.keras")
print(f"best validation loss {min(history.history['val_loss']):.4f}")
