"""Subclassed model trained inside a class, argparse, AdamW, dropout; evaluate returns a dictionary."""
import os

os.environ.setdefault("KERAS_BACKEND", "jax")
os.environ.setdefault("JAX_ENABLE_X64", "1")

import argparse
import json

import keras
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class MLP(keras.Model):
    """Two hidden layers, dropout between them."""

    def __init__(self, hidden, classes, rate=0.3):
        super().__init__()
        self.first = keras.layers.Dense(hidden, activation="gelu")
        self.drop = keras.layers.Dropout(rate)
        self.second = keras.layers.Dense(hidden // 2, activation="gelu")
        self.out = keras.layers.Dense(classes)

    def call(self, x, training=False):
        x = self.first(x)
        x = self.drop(x, training=training)
        return self.out(self.second(x))


class Experiment:
    def __init__(self, args):
        self.args = args
        keras.utils.set_random_seed(args.seed)
        keras.config.set_floatx("float64")
        self.model = MLP(args.hidden, 10)

    def load(self):
        data = load_digits()
        x, y = data.data[:290] / 16, data.target[:290]
        self.x, self.x_test, self.y, self.y_test = train_test_split(
            x, y, test_size=0.25, random_state=self.args.seed, stratify=y)

    def train(self):
        self.model.compile(
            optimizer=keras.optimizers.AdamW(self.args.lr, weight_decay=0.01),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=[keras.metrics.SparseCategoricalAccuracy(name="acc")],
        )
        result = self.model.fit(self.x, self.y, self.args.batch_size, self.args.epochs, verbose=0)
        for i, (loss, acc) in enumerate(zip(result.history["loss"], result.history["acc"])):
            print("Epoch {}/{} loss {:.12f} acc {:.12f}".format(i + 1, self.args.epochs, loss, acc))

    def test(self):
        figures = self.model.evaluate(self.x_test, self.y_test, batch_size=self.args.batch_size,
                                      verbose=0, return_dict=True)
        print("test", {k: round(float(v), 10) for k, v in figures.items()})
        with open("figures.json", "w") as f:
            json.dump({k: float(v) for k, v in figures.items()}, f)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="digits with a small MLP")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--hidden", type=int, default=20)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=5)
    experiment = Experiment(parser.parse_args())
    experiment.load()
    experiment.train()
    experiment.test()
    experiment.model.save_weights("mlp.weights.h5")
