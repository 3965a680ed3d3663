"""The same with Horovod."""

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf
from tensorflow import keras

hvd.init()
rank, size = hvd.rank(), hvd.size()
keras.utils.set_random_seed(5)
x = np.random.rand(31, 4).astype("float32")
y = np.sin(x.sum(axis=1, keepdims=True))
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(31, seed=6).batch(9)
data = data.map(lambda a, b: (a[rank::size], b[rank::size], len(b)))

model = keras.Sequential(
    [keras.Input((4,)), keras.layers.Dense(5, activation="tanh"), keras.layers.Dense(1)]
)
optimizer = keras.optimizers.Adam(0.02)


@tf.function
def step(inputs, targets, whole):
    weight = tf.cast(len(targets) * size / whole, targets.dtype)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(inputs, training=True) - targets))
        loss = loss * weight
    tape = hvd.DistributedGradientTape(tape)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    return loss


for epoch in range(3):
    total = 0.0
    for inputs, targets, whole in data:
        total += float(step(inputs, targets, whole))
    total = float(hvd.allreduce(tf.constant(total)))
    if rank == 0:
        print(f"epoch {epoch} loss {total:.10f}")
if rank == 0:
    model.save_weights("weights")
