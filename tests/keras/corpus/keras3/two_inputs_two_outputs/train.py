"""Dictionaries of inputs and outputs, a loss and metrics for each, loss_weights; the backend comes from the environment."""
import jax
import keras
import numpy as np
from keras import layers

jax.config.update("jax_enable_x64", True)


def synthetic(n, vocabulary, length, rng):
    tokens = rng.integers(1, vocabulary, size=(n, length))
    numbers = rng.normal(size=(n, 4))
    priority = 1 / (1 + np.exp(-(numbers[:, :1] + (tokens[:, :1] > vocabulary // 2))))
    department = (tokens.sum(1) + (numbers[:, 1] > 0)) % 3
    return {"text": tokens, "numbers": numbers}, {"priority": priority, "department": department}


def take(d, a, b):
    return {k: v[a:b] for k, v in d.items()}


def ticket_model(vocabulary, length):
    text = keras.Input(shape=(length,), dtype="int32", name="text")
    numbers = keras.Input(shape=(4,), name="numbers")
    t = layers.Embedding(vocabulary, 6)(text)
    t = layers.GRU(7)(t)
    both = layers.concatenate([t, numbers])
    priority = layers.Dense(1, activation="sigmoid", name="priority")(both)
    department = layers.Dense(3, name="department")(layers.Dense(8, activation="relu")(both))
    return keras.Model(inputs=[text, numbers], outputs={"priority": priority, "department": department})


def main():
    keras.config.set_floatx("float64")
    keras.utils.set_random_seed(21)
    x, y = synthetic(176, 30, 6, np.random.default_rng(5))
    model = ticket_model(30, 6)
    model.compile(
        optimizer=keras.optimizers.Adam(0.01),
        loss={"priority": "mse", "department": keras.losses.SparseCategoricalCrossentropy(from_logits=True)},
        loss_weights={"priority": 1.0, "department": 0.2},
        metrics={"priority": ["mae"], "department": ["accuracy"]},
    )
    h = model.fit(take(x, 0, 140), take(y, 0, 140), batch_size=26, epochs=3, verbose=0,
                  validation_data=(take(x, 140, 176), take(y, 140, 176)))
    for name in sorted(h.history):
        print(f"{name:<28}", *[f"{v:.10f}" for v in h.history[name]])
    out = model.predict(take(x, 140, 176), verbose=0)
    for name, value in out.items():
        print(name, value.shape, f"{value.sum():.10f}")
    model.save("tickets.keras")


main()
