"""tf.data pipeline (map, seeded shuffle, ragged batch, prefetch), CosineDecay, jit_compile, SGD with momentum."""
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import jax
import numpy as np
import tensorflow as tf

import keras

jax.config.update("jax_enable_x64", True)
keras.backend.set_floatx("float64")
keras.utils.set_random_seed(40)

BATCH = 23
EPOCHS = 3
N = 190

# three noisy blobs in eight dimensions
centres = np.random.normal(size=(3, 8)) * 1.5
labels = np.random.randint(0, 3, size=N)
features = centres[labels] + np.random.normal(size=(N, 8))


def scale(x, y):
    return tf.clip_by_value(x / 3.0, -1.5, 1.5), y


train_ds = (
    tf.data.Dataset.from_tensor_slices((features[:150], labels[:150]))
    .shuffle(150, seed=7, reshuffle_each_iteration=True)
    .map(scale, num_parallel_calls=tf.data.AUTOTUNE)
    .batch(BATCH)
    .prefetch(tf.data.AUTOTUNE)
)
val_ds = tf.data.Dataset.from_tensor_slices((features[150:], labels[150:])).map(scale).batch(BATCH)

schedule = keras.optimizers.schedules.CosineDecay(0.2, decay_steps=EPOCHS * len(train_ds), alpha=0.05)
model = keras.models.Sequential()
model.add(keras.layers.Input(shape=(8,)))
model.add(keras.layers.Dense(18, activation="swish", kernel_initializer="he_normal"))
model.add(keras.layers.Dense(3, activation="softmax"))
model.compile(
    optimizer=keras.optimizers.SGD(learning_rate=schedule, momentum=0.9, nesterov=True),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=True,
)
hist = model.fit(train_ds, validation_data=val_ds, epochs=EPOCHS, verbose=0).history

print("steps per epoch:", len(train_ds))
for name in ("loss", "accuracy", "val_loss", "val_accuracy"):
    print(name, ["%.10f" % v for v in hist[name]])
print("last rate %.10f" % float(model.optimizer.learning_rate))
predicted = model.predict(val_ds, verbose=0)
print("predicted", predicted.shape, "%.10f" % (predicted * np.arange(3)).sum())
model.save("blobs.keras")
