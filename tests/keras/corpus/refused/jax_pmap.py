# refused: the script spreads its batches over devices by itself (jax.pmap)
import os
os.environ["KERAS_BACKEND"] = "jax"

from functools import partial

import jax
import jax.numpy as jnp
import keras
import numpy as np

keras.utils.set_random_seed(4)
devices = jax.local_device_count()
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
optimizer.build(model.trainable_variables)


def loss_fn(trainable, x, y):
    pred, _ = model.stateless_call(trainable, [], x)
    return jnp.mean((pred - y) ** 2)


@partial(jax.pmap, axis_name="devices")
def step(trainable, opt, x, y):
    loss, grads = jax.value_and_grad(loss_fn)(trainable, x, y)
    grads = jax.lax.pmean(grads, axis_name="devices")
    trainable, opt = optimizer.stateless_apply(opt, grads, trainable)
    return loss, trainable, opt


repeat = partial(jax.tree.map, lambda v: jnp.stack([jnp.asarray(v)] * devices))
trainable = repeat([v.value for v in model.trainable_variables])
opt = repeat([v.value for v in optimizer.variables])
x = np.random.rand(devices, 10, 3)
for _ in range(3):
    loss, trainable, opt = step(trainable, opt, x, x.sum(-1, keepdims=True))
    print(float(loss[0]))
