"""Trains with batches that may be given joined, and with rates that may be given grown.

With `--batch 16 --factors …` it is its own reference for `--batch per-worker --lr …` with two
workers and batches of 8.
"""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("--batch", type=int, default=8)
parser.add_argument("--steps", type=int)
parser.add_argument("--factors", type=float, nargs="*", default=[1.0])
args = parser.parse_args()
tf.keras.backend.set_floatx("float64")
tf.keras.utils.set_random_seed(6)
x = np.random.randn(44, 4)
y = np.sin(x).sum(1, keepdims=True)


class Plan(tf.keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        factors = tf.constant(args.factors, tf.float64)
        last = tf.cast(len(args.factors) - 1, step.dtype)
        return 0.04 * 0.9 ** tf.cast(step, tf.float64) * factors[tf.minimum(step, last)]


class Told(tf.keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        self.steps = 0

    def on_train_batch_end(self, batch, logs=None):
        self.steps += 1

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch}: {self.steps} steps")
        for name, value in logs.items():
            print(f"{name} {value:.12f}")


def endless():
    while True:
        for start in range(0, len(x), args.batch):
            yield x[start : start + args.batch], y[start : start + args.batch]


rows = tf.data.Dataset.from_tensor_slices((x, y))
model = tf.keras.Sequential(
    [
        tf.keras.Input((4,)),
        tf.keras.layers.Dense(8, activation="tanh"),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dense(1),
    ]
)
kind = tf.keras.optimizers.AdamW
if args.source == "legacy":
    kind = tf.keras.optimizers.legacy.SGD
elif args.source != "arrays":
    kind = tf.keras.optimizers.SGD
model.compile(kind(Plan()), "mse", metrics=["mae"])
given = {"epochs": 3, "verbose": 0, "callbacks": [Told()]}
if args.source == "repeated":
    model.fit(rows.batch(args.batch).repeat(), steps_per_epoch=args.steps, **given)
elif args.source == "unknown":
    model.fit(rows.filter(lambda a, b: a[0] > -9).batch(args.batch), **given)
elif args.source == "generator":
    model.fit(endless(), steps_per_epoch=args.steps, **given)
else:
    model.fit(x, y, batch_size=args.batch, validation_split=0.25, **given)
print(f"weights {sum(float(tf.reduce_sum(one)) for one in model.trainable_variables):.12f}")
