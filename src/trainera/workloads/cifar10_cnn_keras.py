"""CIFAR-10 with a medium convolutional network in Keras on JAX: the counterpart of cifar10_cnn.py.

python cifar10_cnn_keras.py --size tiny|small|full
"""
import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
from workload_arrays import cifar10

SIZES = {"tiny": (320, 160, 6), "small": (4000, 1000, 5), "full": (50000, 10000, 30)}


def build():
    layers = [keras.layers.Input((32, 32, 3))]
    for filters in (64, 128, 256):
        layers += [
            keras.layers.Conv2D(filters, 3, padding="same", use_bias=False),
            keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-5),
            keras.layers.ReLU(),
            keras.layers.MaxPooling2D(2),
        ]
    layers += [
        keras.layers.Flatten(),
        keras.layers.Dense(512, activation="relu"),
        keras.layers.Dropout(0.3),
        keras.layers.Dense(10, activation="softmax"),
    ]
    return keras.Sequential(layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.02)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs = SIZES[args.size]

    keras.utils.set_random_seed(args.seed)
    (images, labels), (test_images, test_labels), origin = cifar10(samples, held)
    print(f"data: {origin}")
    # Keras has the channels last.
    images, test_images = images.transpose(0, 2, 3, 1), test_images.transpose(0, 2, 3, 1)

    model = build()
    model.compile(
        optimizer=keras.optimizers.SGD(args.lr, momentum=0.9),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    history = model.fit(
        images,
        labels,
        batch_size=args.batch_size,
        epochs=args.epochs or epochs,
        validation_data=(test_images, test_labels),
        validation_batch_size=500,
        verbose=0,
    ).history
    for epoch, (loss, accuracy) in enumerate(zip(history["loss"], history["val_accuracy"])):
        print(f"epoch {epoch + 1}: loss {loss:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
