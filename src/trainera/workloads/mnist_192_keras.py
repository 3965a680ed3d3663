"""MNIST with one hidden layer in Keras: 784-192-10, the counterpart of mnist_192.py.

python mnist_192_keras.py --size tiny|small|full
"""
import argparse

import keras
from workload_data import grey_digits

SIZES = {"tiny": (4000, 1000, 3), "small": (20000, 5000, 5), "full": (60000, 10000, 10)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs = SIZES[args.size]

    keras.utils.set_random_seed(args.seed)
    train_set, test_set, origin = grey_digits(["mnist", "MNIST/raw"], samples, held)
    print(f"data: {origin}")
    train_images, train_labels = (tensor.numpy() for tensor in train_set.tensors)
    test_images, test_labels = (tensor.numpy() for tensor in test_set.tensors)

    model = keras.Sequential(
        [
            keras.layers.Input((1, 28, 28)),
            keras.layers.Flatten(),
            keras.layers.Dense(192, activation="relu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.SGD(args.lr, momentum=0.9),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(
        train_images,
        train_labels,
        batch_size=args.batch_size,
        epochs=args.epochs or epochs,
        validation_data=(test_images, test_labels),
        verbose=0,
    )
    for epoch, accuracy in enumerate(history.history["val_accuracy"], start=1):
        print(f"epoch {epoch}: accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
