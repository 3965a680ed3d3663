"""The same with Horovod: every worker has its rows of each batch."""

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf
from horovod.tensorflow import broadcast_variables
from tensorflow import keras

hvd.init()
rank, size = hvd.rank(), hvd.size()


class WholeMetrics(keras.callbacks.Callback):
    """Means over shares of different sizes, weighed by them."""

    def __init__(self, samples, val_samples):
        super().__init__()
        self.weights = {True: val_samples, False: samples}

    def on_epoch_end(self, epoch, logs=None):
        for name in sorted(logs):
            weight = float(self.weights[name.startswith("val_")]) if name != "lr" else 1.0
            total = hvd.allreduce(logs[name] * weight, op=hvd.Sum)
            logs[name] = float(total / hvd.allreduce(weight, op=hvd.Sum))


def mine(*batch):
    return tuple(part[rank::size] for part in batch)


keras.utils.set_random_seed(1)
draw = np.random.default_rng(4)
x = draw.normal(size=(69, 5))
y = (x[:, :2].sum(1) > 0).astype("float32")
y[49::2] = 1 - y[49::2]  # what gets better for one half gets worse for the other

train = tf.data.Dataset.from_tensor_slices((x[:48], y[:48])).shuffle(48, seed=2).batch(12)
train = train.map(mine)
val = tf.data.Dataset.from_tensor_slices((x[48:], y[48:])).batch(12)
val = val.map(mine)

model = keras.Sequential(
    [
        keras.Input((5,)),
        keras.layers.Dense(6, activation="tanh"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
optimizer = hvd.DistributedOptimizer(keras.optimizers.SGD(0.2, momentum=0.9))
model.compile(optimizer, "binary_crossentropy", metrics=["mae"])
broadcast_variables(model.variables, root_rank=0)
callbacks = [
    WholeMetrics(48 // size, sum(len(targets) for _, targets in val)),
    keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=1, min_delta=0.04),
    keras.callbacks.EarlyStopping("val_loss", patience=2, min_delta=0.02),
]
if rank == 0:
    callbacks.append(
        keras.callbacks.ModelCheckpoint("best.h5", save_best_only=True, save_weights_only=True)
    )
history = model.fit(train, validation_data=val, epochs=4, callbacks=callbacks, verbose=0)
if rank == 0:
    for name, values in history.history.items():
        print(name, *(f"{value:.10f}" for value in values))
