"""MNIST with one hidden layer in Keras on TensorFlow: the counterpart of mnist_192.py.

python mnist_192_tensorflow.py --size tiny|small|full
"""
import argparse

from tensorflow import keras
from workload_arrays import grey_digits

SIZES = {"tiny": (2000, 500, 8), "small": (20000, 5000, 8), "full": (60000, 10000, 8)}


def build():
    return keras.Sequential(
        [
            keras.layers.Input((28, 28, 1)),
            keras.layers.Flatten(),
            keras.layers.Dense(192, activation="sigmoid"),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=50)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs = SIZES[args.size]

    keras.utils.set_random_seed(args.seed)
    (images, labels), (test_images, test_labels), origin = grey_digits(["mnist", "MNIST/raw"], samples, held)
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
