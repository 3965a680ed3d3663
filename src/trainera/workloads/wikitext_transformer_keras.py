"""WikiText with a medium transformer language model in Keras on JAX: the counterpart of wikitext_transformer.py.

python wikitext_transformer_keras.py --size tiny|small|full
"""
import argparse
import math
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
from keras import layers
from workload_arrays import running_text

# training pieces, test pieces, epochs, words of a piece, vocabulary, width, layers
SIZES = {
    "tiny": (256, 64, 2, 32, 1000, 64, 2),
    "small": (3000, 500, 3, 64, 8000, 256, 4),
    "full": (16000, 2000, 10, 128, 30000, 512, 8),
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
    x = Embedding(vocabulary, length, width)(tokens)
    for _ in range(depth):
        x = encoder_layer(x, width, use_causal_mask=True)
    return keras.Model(tokens, layers.Dense(vocabulary)(x))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--epochs", type=int)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    samples, held, epochs, length, vocabulary, width, depth = SIZES[args.size]

    keras.utils.set_random_seed(args.seed)
    train_set, test_set, origin = running_text(samples, held, length, vocabulary)
    print(f"data: {origin}")

    model = build(vocabulary, length, width, depth)
    model.compile(
        optimizer=keras.optimizers.Adam(args.lr, epsilon=1e-8),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
    history = model.fit(
        *train_set,
        batch_size=args.batch_size,
        epochs=args.epochs or epochs,
        validation_data=test_set,
        validation_batch_size=64,
        verbose=0,
    ).history
    for epoch, (loss, held_loss) in enumerate(zip(history["loss"], history["val_loss"])):
        print(f"epoch {epoch + 1}: loss {loss:.4f}, perplexity {math.exp(held_loss):.2f}")


if __name__ == "__main__":
    main()
