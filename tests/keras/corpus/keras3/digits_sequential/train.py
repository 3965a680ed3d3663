"""Sequential at module level, everything by name, arrays with validation_split, evaluate."""
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

keras.utils.set_random_seed(812)
keras.config.set_floatx("float64")

# the 8x8 digits are enough to see whether it learns
digits = load_digits()
x = digits.data[:310] / 16.0
y = keras.utils.to_categorical(digits.target[:310], 10)
x_train, x_test = x[:247], x[247:]
y_train, y_test = y[:247], y[247:]

model = keras.Sequential([
    keras.Input(shape=(64,)),
    layers.Dense(24, activation="relu"),
    layers.Dropout(0.2),
    layers.Dense(10, activation="softmax"),
])
model.compile(loss="categorical_crossentropy", optimizer="adam", metrics=["accuracy"])

history = model.fit(x_train, y_train, batch_size=17, epochs=3, validation_split=0.15, verbose=0)

for epoch in range(3):
    print("epoch", epoch + 1, " ".join(f"{k}={v[epoch]:.10f}" for k, v in history.history.items()))

score = model.evaluate(x_test, y_test, verbose=0)
print(f"Test loss: {score[0]:.10f}")
print(f"Test accuracy: {score[1]:.10f}")

probs = model.predict(x_test, verbose=0)
print("sum of squares of the predictions", f"{np.square(probs).sum():.10f}")
model.save_weights("digits.weights.h5")
