"""Transfer learning: a base trained on some digits, frozen under a new head, then thawed and compiled again."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits


def pretrain(x, y):
    base = keras.Sequential([
        keras.Input((8, 8, 1)),
        layers.Conv2D(6, 3, activation="relu"),
        layers.BatchNormalization(),
        layers.Conv2D(8, 3, activation="relu"),
        layers.GlobalMaxPooling2D(),
    ], name="base")
    model = keras.Sequential([base, layers.Dense(5, activation="softmax")])
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x, y, batch_size=31, epochs=2, verbose=0)
    base.save("base.keras")


def report(title, history):
    for epoch, loss, acc in zip(history.epoch, history.history["loss"], history.history["val_accuracy"]):
        print(f"{title} {epoch}: loss {loss:.10f} val_accuracy {acc:.10f}")


keras.config.set_floatx("float64")
keras.utils.set_random_seed(55)
x, y = load_digits(return_X_y=True)
x = x.reshape(-1, 8, 8, 1) / 16
low, high = y < 5, y >= 5
pretrain(x[low][:157], y[low][:157])
x_new, y_new = x[high][:170], y[high][:170] - 5
val = (x_new[128:], y_new[128:])

base_model = keras.models.load_model("base.keras")
base_model.trainable = False

inputs = keras.Input(shape=(8, 8, 1))
h = base_model(inputs, training=False)  # batch normalisation stays in inference mode
h = layers.Dropout(0.1)(h)
model = keras.Model(inputs, layers.Dense(5)(h))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(0.02), loss=loss, metrics=["accuracy"])
print("trainable weights:", len(model.trainable_weights))
history = model.fit(x_new[:128], y_new[:128], epochs=2, batch_size=25, validation_data=val, verbose=0)
report("head", history)

base_model.trainable = True
for layer in base_model.layers[:2]:
    layer.trainable = False
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss=loss, metrics=["accuracy"])
print("trainable weights:", len(model.trainable_weights))
history = model.fit(x_new[:128], y_new[:128], epochs=4, initial_epoch=history.epoch[-1] + 1, batch_size=25,
                    validation_data=val, verbose=0)
report("fine", history)
np.save("first_kernel.npy", base_model.layers[0].get_weights()[0])
model.save("finetuned.keras")
