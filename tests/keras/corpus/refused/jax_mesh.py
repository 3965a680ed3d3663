# refused: the script lays out its batches on a mesh of devices by itself (jax.sharding)
import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

keras.utils.set_random_seed(4)
rows = NamedSharding(Mesh(np.array(jax.devices()), ("rows",)), PartitionSpec("rows"))
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


def loss_fn(trainable, x, y):
    pred, _ = model.stateless_call(trainable, [], x)
    return ((pred - y) ** 2).mean()


@jax.jit
def step(trainable, opt, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(trainable, x, y)
    trainable, opt = optimizer.stateless_apply(opt, grads, trainable)
    return loss, trainable, opt


trainable = [v.value for v in model.trainable_variables]
opt = [v.value for v in optimizer.variables]
data = np.random.rand(3, 8 * jax.device_count(), 3)
for x in data:
    x = jax.device_put(x, rows)
    loss, trainable, opt = step(trainable, opt, x, x.sum(-1, keepdims=True))
    print(float(loss))
