"""The same with Horovod."""

import horovod.tensorflow.keras as hvd
import numpy as np
from horovod.tensorflow import SyncBatchNormalization
from tensorflow import keras

hvd.init()
rank, size = hvd.rank(), hvd.size()
keras.utils.set_random_seed(3)
x = np.random.rand(40, 4).astype("float32")
y = x.sum(axis=1, keepdims=True) ** 2

model = keras.Sequential(
    [
        keras.Input((4,)),
        keras.layers.Dense(5, use_bias=False),
        SyncBatchNormalization(momentum=0.8),
        keras.layers.ReLU(),
        keras.layers.Dense(1),
    ]
)
model.compile(hvd.DistributedOptimizer(keras.optimizers.legacy.Adam(0.01)), "mse")
for epoch in range(2):
    order = np.random.permutation(40)
    for begin in range(0, 40, 8):
        rows = order[begin : begin + 8][rank::size]
        loss = model.train_on_batch(x[rows], y[rows])
    if rank == 0:
        print(epoch)
if rank == 0:
    model.save("end.h5")
