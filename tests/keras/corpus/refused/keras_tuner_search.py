# refused: the trials of a tuner train by themselves (keras_tuner: search), fit is not called here
import keras
import keras_tuner
import numpy as np

keras.utils.set_random_seed(6)
x = np.random.rand(200, 8)
y = (x[:, 0] > x[:, 1]).astype("int32")


def build_model(hp):
    model = keras.Sequential()
    model.add(keras.layers.Dense(hp.Int("units", 8, 32, step=8), activation=hp.Choice("activation", ["relu", "tanh"])))
    model.add(keras.layers.Dense(1, activation="sigmoid"))
    model.compile(keras.optimizers.Adam(hp.Float("lr", 1e-4, 1e-2, sampling="log")), "binary_crossentropy",
                  metrics=["accuracy"])
    return model


tuner = keras_tuner.RandomSearch(build_model, objective="val_accuracy", max_trials=3, directory="trials")
tuner.search(x[:150], y[:150], epochs=2, validation_data=(x[150:], y[150:]))
print(tuner.get_best_hyperparameters()[0].values)
tuner.get_best_models()[0].save("best.keras")
