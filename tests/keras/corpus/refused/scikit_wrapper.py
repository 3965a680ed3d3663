# refused: the model is fitted by scikit-learn (SciKeras in a grid search); no call of fit on a Keras model is in the script
import numpy as np
from scikeras.wrappers import KerasClassifier
from sklearn.model_selection import GridSearchCV
from tensorflow import keras

keras.utils.set_random_seed(10)
X = np.random.rand(150, 5)
y = (X[:, 0] + X[:, 1] > 1).astype(int)


def create_model(units):
    model = keras.Sequential([keras.layers.Dense(units, activation="relu"), keras.layers.Dense(1, activation="sigmoid")])
    model.compile(loss="binary_crossentropy", optimizer="adam", metrics=["accuracy"])
    return model


grid = GridSearchCV(KerasClassifier(create_model, units=4, epochs=2, verbose=0), {"units": [4, 8]}, cv=3)
result = grid.fit(X, y)
print("Best: %f using %s" % (result.best_score_, result.best_params_))
