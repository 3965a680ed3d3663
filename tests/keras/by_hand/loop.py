"""A loop with a tape in a compiled function; the last batch is a short one."""

import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(5)
x = np.random.rand(31, 4).astype("float32")
y = np.sin(x.sum(axis=1, keepdims=True))
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(31, seed=6).batch(9)

model = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)]
)
optimizer = keras.optimizers.Adam(0.02)


@tf.function
def step(inputs, targets):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True) - targets))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


for epoch in range(3):
    total = 0.0
    for inputs, targets in data:
        total += float(step(inputs, targets))
    print(f"epoch {epoch} loss {total:.10f}")
model.save_weights("weights")
