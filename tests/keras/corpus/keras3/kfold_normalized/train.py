"""Cross-validation: a new model, adapted Normalization and compile for every fold; scores gathered at the end."""
import os
os.environ["KERAS_BACKEND"] = "jax"

import json

import jax
import numpy as np
from sklearn.model_selection import KFold

import keras
from keras import layers, regularizers

jax.config.update("jax_enable_x64", True)
keras.config.set_floatx("float64")

rng = np.random.RandomState(30)
X = rng.normal(loc=[3, -10, 0, 100, 1], scale=[1, 4, 0.1, 30, 2], size=(127, 5))
Y = 0.5 * X[:, 0] - 0.1 * X[:, 1] + 3 * X[:, 2] + 0.01 * X[:, 3] + rng.normal(scale=0.2, size=127)


def build(x_train):
    normalizer = layers.Normalization(axis=-1)
    normalizer.adapt(x_train)
    model = keras.Sequential([
        normalizer,
        layers.Dense(12, activation="elu", kernel_regularizer=regularizers.l1_l2(1e-4, 1e-3),
                     activity_regularizer=regularizers.L2(1e-4)),
        layers.Dense(1),
    ])
    model.compile(optimizer=keras.optimizers.Adagrad(0.2), loss="mae", metrics=[keras.metrics.RootMeanSquaredError()])
    return model


def main():
    scores = []
    for fold, (train, test) in enumerate(KFold(3, shuffle=True, random_state=1).split(X)):
        keras.utils.set_random_seed(fold)
        model = build(X[train])
        history = model.fit(X[train], Y[train], epochs=3, batch_size=18, verbose=0)
        loss, rmse = model.evaluate(X[test], Y[test], batch_size=18, verbose=0)
        scores.append(rmse)
        print(f"fold {fold}: training loss {history.history['loss'][-1]:.10f}, loss {loss:.10f}, rmse {rmse:.10f}")
    print(f"rmse {np.mean(scores):.10f} +- {np.std(scores):.10f}")
    with open("folds.json", "w") as f:
        json.dump([float(s) for s in scores], f)
    model.save_weights("last_fold.weights.h5")


if __name__ == "__main__":
    main()
