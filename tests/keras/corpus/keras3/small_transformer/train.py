"""Transformer block (MultiHeadAttention, LayerNormalization) as own layers, position embedding, masked tokens."""
import os
os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"
import keras
import numpy as np
from keras import layers, ops


class TransformerBlock(layers.Layer):
    def __init__(self, embed_dim, num_heads, ff_dim, rate=0.1):
        super().__init__()
        self.att = layers.MultiHeadAttention(num_heads=num_heads, key_dim=embed_dim // num_heads)
        self.ffn = keras.Sequential([layers.Dense(ff_dim, activation="relu"), layers.Dense(embed_dim)])
        self.layernorm1 = layers.LayerNormalization(epsilon=1e-6)
        self.layernorm2 = layers.LayerNormalization(epsilon=1e-6)
        self.dropout = layers.Dropout(rate)

    def call(self, inputs, training=None):
        out1 = self.layernorm1(inputs + self.att(inputs, inputs))
        return self.layernorm2(out1 + self.dropout(self.ffn(out1), training=training))


class TokenAndPosition(layers.Layer):
    def __init__(self, maxlen, vocab_size, embed_dim):
        super().__init__()
        self.tokens = layers.Embedding(vocab_size, embed_dim)
        self.positions = layers.Embedding(maxlen, embed_dim)

    def call(self, x):
        return self.tokens(x) + self.positions(ops.arange(0, ops.shape(x)[-1]))


def get_data(n, vocab, length):
    rng = np.random.RandomState(4)
    tokens = rng.randint(1, vocab, size=(n, length))
    lengths = rng.randint(3, length + 1, size=n)
    tokens[np.arange(length)[None] >= lengths[:, None]] = 0  # padding
    return tokens, (np.max(tokens, axis=1) >= vocab - 3).astype("int32")


def main(vocab=25, length=9):
    keras.config.set_floatx("float64")
    keras.utils.set_random_seed(71)
    x, y = get_data(180, vocab, length)
    inputs = layers.Input(shape=(length,), dtype="int32")
    h = TokenAndPosition(length, vocab, 8)(inputs)
    h = TransformerBlock(8, 2, 16)(h)
    h = layers.GlobalAveragePooling1D()(h)
    h = layers.Dropout(0.1)(h)
    outputs = layers.Dense(2, activation="softmax")(h)
    model = keras.Model(inputs=inputs, outputs=outputs)
    print("parameters:", model.count_params())

    warm = keras.optimizers.schedules.PolynomialDecay(0.01, 20, end_learning_rate=0.001)
    model.compile(optimizer=keras.optimizers.AdamW(warm, weight_decay=1e-3, clipnorm=1.0),
                  loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    history = model.fit(x[:141], y[:141], batch_size=32, epochs=2, validation_data=(x[141:], y[141:]), verbose=0)
    for k in ["loss", "accuracy", "val_loss", "val_accuracy"]:
        print(k, history.history[k])
    model.save_weights("predict_class.weights.h5")


if __name__ == "__main__":
    main()
