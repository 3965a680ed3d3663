"""A last batch of a single sample under batch normalisation, in float32, with the default progress bar."""
import os
os.environ["KERAS_BACKEND"] = "jax"

import keras
import numpy as np
from keras.layers import BatchNormalization, Dense, Input
from keras.models import Sequential
from keras.optimizers import SGD

keras.utils.set_random_seed(4)

# 4 * 24 + 1 samples
N, BATCH = 97, 24
X = np.random.rand(N, 6).astype("float32")
y = (X.sum(axis=1, keepdims=True) + 0.1 * np.random.randn(N, 1)).astype("float32")

model = Sequential()
model.add(Input(shape=(6,)))
model.add(Dense(11, activation="relu"))
model.add(BatchNormalization(momentum=0.8))
model.add(Dense(1))
model.compile(optimizer=SGD(learning_rate=0.02), loss="mean_squared_error", metrics=["mean_absolute_error"])

history = model.fit(X, y, epochs=3, batch_size=BATCH)
print("final loss %.6f" % history.history["loss"][-1])
print("mae by epoch", ["%.6f" % v for v in history.history["mean_absolute_error"]])

score = model.evaluate(X, y, batch_size=BATCH)
print("evaluated %.6f %.6f" % tuple(score))
pred = model.predict(X[:BATCH + 1], batch_size=BATCH)
print("predicted %.5f %.5f" % (pred.sum(), pred[-1, 0]))
model.save("one.h5")
