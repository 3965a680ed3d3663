"""cnn_tf.py made parallel by hand with Horovod, the way its own documentation teaches it.

    horovodrun -np 2 python cnn_tf_by_hand.py --epochs 4 --batch-size 128 --samples 4096

What the converted script is measured against. The network, the data and the batch that all workers
share are those of cnn_tf.py; only what a person has to write for Horovod differs.
"""

import argparse

import horovod.tensorflow.keras as hvd
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

CLASSES = 10


def shapes(samples, patterns, draw):
    """Noise over one pattern for each class."""
    labels = draw.integers(0, CLASSES, samples)
    images = patterns[labels] + draw.normal(size=(samples, *patterns.shape[1:]))
    return images.astype("float32"), labels


def build():
    return keras.Sequential(
        [
            keras.Input((32, 32, 3)),
            layers.Conv2D(16, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.2),
            layers.Dense(CLASSES),
        ]
    )


class Told(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: loss {logs['loss']:.4f}, accuracy {logs['accuracy']:.4f}")


def main():
    parser = argparse.ArgumentParser(description="Train a small CNN on generated images.")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--samples", type=int, default=4096)
    args = parser.parse_args()

    hvd.init()
    rank, size = hvd.rank(), hvd.size()

    keras.utils.set_random_seed(0)
    draw = np.random.default_rng(0)
    images, labels = shapes(args.samples, draw.normal(size=(CLASSES, 32, 32, 3)), draw)
    images, labels = images[rank::size], labels[rank::size]

    model = build()
    model.compile(
        hvd.DistributedOptimizer(keras.optimizers.SGD(0.01, momentum=0.9)),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(
        images,
        labels,
        batch_size=args.batch_size // size,
        epochs=args.epochs,
        callbacks=[
            hvd.callbacks.BroadcastGlobalVariablesCallback(0),
            hvd.callbacks.MetricAverageCallback(),
            *([Told()] if rank == 0 else []),
        ],
        verbose=0,
    )


if __name__ == "__main__":
    main()
