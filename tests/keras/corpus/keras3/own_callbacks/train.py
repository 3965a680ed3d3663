"""Own callbacks that look at logs, change the learning rate and stop; LambdaCallback, scheduler, TerminateOnNaN."""
import os
os.environ["KERAS_BACKEND"] = "jax"

import jax
jax.config.update("jax_enable_x64", True)
import keras
import numpy as np


class HalveWhenWorse(keras.callbacks.Callback):
    """Halves the rate whenever the batch loss is above the best epoch so far."""

    def __init__(self, warmup=1):
        super().__init__()
        self.warmup = warmup
        self.best = float("inf")
        self.batches_above = 0

    def on_train_batch_end(self, batch, logs=None):
        if logs["loss"] > self.best:
            self.batches_above += 1

    def on_epoch_end(self, epoch, logs=None):
        current = logs["val_loss"]
        if epoch >= self.warmup and current > 0.93 * self.best:
            rate = float(self.model.optimizer.learning_rate)
            self.model.optimizer.learning_rate = rate / 2
            print(f"  halved the rate to {rate / 2:.6f}")
        self.best = min(self.best, current)


class StopAt(keras.callbacks.Callback):
    def __init__(self, target):
        super().__init__()
        self.target = target

    def on_epoch_end(self, epoch, logs=None):
        if logs.get("accuracy") >= self.target:
            print(f"  reached {self.target} in epoch {epoch}")
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        print("training ended, keys:", sorted(logs))


def warm_up(epoch, lr):
    return 0.01 * (epoch + 1) if epoch < 2 else lr


keras.config.set_floatx("float64")
keras.utils.set_random_seed(77)
x = np.random.normal(size=(233, 7))
y = (x[:, :3].sum(1) > x[:, 3:].sum(1)).astype(int)

model = keras.Sequential([keras.layers.Dense(9, activation="relu"), keras.layers.Dense(2, activation="softmax")])
model.compile(optimizer=keras.optimizers.SGD(0.01), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
halve = HalveWhenWorse()
log = keras.callbacks.LambdaCallback(
    on_epoch_begin=lambda epoch, logs: print("epoch", epoch),
    on_epoch_end=lambda epoch, logs: print("  ", " ".join(f"{k} {v:.10f}" for k, v in sorted(logs.items()))),
)
model.fit(x[:180], y[:180], batch_size=16, epochs=8, validation_data=(x[180:], y[180:]), verbose=0,
          callbacks=[log, keras.callbacks.LearningRateScheduler(warm_up), halve, StopAt(0.8),
                     keras.callbacks.TerminateOnNaN()])
print("batches above the best:", halve.batches_above)
print("rate at the end: %.8f" % float(model.optimizer.learning_rate))
model.save_weights("stopped.weights.h5")
