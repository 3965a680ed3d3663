"""Film reviews with a small transformer in Keras on JAX: the counterpart of imdb_transformer.py.

python imdb_transformer_keras.py --size tiny|small|full
"""
import argparse
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import layers
from workload_arrays import reviews

# training reviews, test reviews, epochs, words of a review, vocabulary, width, layers
SIZES = {
    "tiny": (512, 256, 2, 64, 2000, 64, 2),
    "small": (4000, 1000, 3, 128, 8000, 128, 4),
    "full": (25000, 25000, 5, 256, 20000, 256, 4),
}


class Embedding(layers.Layer):
    """Words and their places."""

    def __init__(self, vocabulary, length, width):
        super().__init__()
        self.token = layers.Embedding(vocabulary, width)
        self.place = layers.Embedding(length, width)

    def call(self, tokens):
        return self.token(tokens) + self.place(keras.ops.arange(tokens.shape[1]))


def encoder_layer(x, width, **attention):
    y = layers.MultiHeadAttention(8, width // 8, dropout=0.1)(x, x, **attention)
    x = layers.LayerNormalization(epsilon=1e-5)(x + layers.Dropout(0.1)(y))
    y = layers.Dropout(0.1)(layers.Dense(4 * width, activation="relu")(x))
    y = layers.Dropout(0.1)(layers.Dense(width)(y))
    return layers.LayerNormalization(epsilon=1e-5)(x + y)


def build(vocabulary, length, width, depth):
    tokens = keras.Input((length,), dtype="int32")
    words = keras.ops.not_equal(tokens, 0)[:, None, :]
    x = Embedding(vocabulary, length, width)(tokens)
    for _ in range(depth):
        x = encoder_layer(x, width, attention_mask=words)
    x = layers.Dense(128, activation="relu")(x[:, 0])
    return keras.Model(tokens, layers.Dense(2)(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs, length, vocabulary, width, depth = SIZES[args.size]

    keras.utils.set_random_seed(args.seed)
    train_set, test_set, origin = reviews(samples, held, length, vocabulary)
    print(f"data: {origin}")

    model = build(vocabulary, length, width, depth)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr, epsilon=1e-8),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    history = model.fit(
        *train_set,
        batch_size=args.batch_size,
        epochs=args.epochs or epochs,
        validation_data=test_set,
        validation_batch_size=128,
        verbose=0,
    ).history
    for epoch, (loss, accuracy) in enumerate(zip(history["loss"], history["val_accuracy"])):
        print(f"epoch {epoch + 1}: loss {loss:.4f}, accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()
