"""Structured data: StringLookup, IntegerLookup and Normalization adapted on the data and mapped in tf.data; float32."""
import os
os.environ["KERAS_BACKEND"] = "jax"

import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(35)

rng = np.random.RandomState(35)
N = 207
table = {
    "breed": rng.choice(["mutt", "terrier", "poodle", "collie"], N, p=[0.4, 0.3, 0.2, 0.1]),
    "age": rng.randint(1, 9, N),
    "weight": rng.normal(12, 5, N).astype("float32"),
}
target = ((table["breed"] == "terrier") | (table["weight"] + table["age"] > 19)).astype("float32")

lookup = layers.StringLookup(output_mode="one_hot")
lookup.adapt(table["breed"][:160])
ages = layers.IntegerLookup(output_mode="one_hot")
ages.adapt(table["age"][:160])
normal = layers.Normalization(axis=None)
normal.adapt(table["weight"][:160])


def encode(row, label):
    parts = [lookup(row["breed"]), ages(row["age"]), tf.expand_dims(normal(row["weight"]), -1)]
    return tf.concat([tf.cast(part, tf.float32) for part in parts], axis=-1), label


def dataset(start, stop, shuffle=False):
    columns = {name: column[start:stop] for name, column in table.items()}
    ds = tf.data.Dataset.from_tensor_slices((columns, target[start:stop]))
    if shuffle:
        ds = ds.shuffle(stop - start, seed=12)
    return ds.batch(27).map(encode)


train_ds, val_ds = dataset(0, 160, shuffle=True), dataset(160, N)
width = next(iter(val_ds))[0].shape[-1]
print("features:", width)
model = keras.Sequential([keras.Input((width,)), layers.Dense(10, activation="relu"),
                          layers.Dropout(0.2), layers.Dense(1)])
model.compile(optimizer="adam", loss=keras.losses.BinaryCrossentropy(from_logits=True),
              metrics=[keras.metrics.BinaryAccuracy(threshold=0.0)])
history = model.fit(train_ds, epochs=3, validation_data=val_ds, verbose=0)
for name, values in sorted(history.history.items()):
    print(name, [round(value, 6) for value in values])
print("logits %.5f" % float(model.predict(val_ds, verbose=0).sum()))
model.save_weights("pets.weights.h5")
