"""Stratified folds: clear_session, a new model with adapted Normalization and fit per fold; mean of the scores."""
import numpy as np
import tensorflow as tf
from sklearn.model_selection import StratifiedKFold
from tensorflow.keras import backend as K
from tensorflow.keras.layers import Dense, Normalization
from tensorflow.keras.models import Sequential

K.set_floatx('float64')
seed = 7
np.random.seed(seed)

X = np.random.gamma(2.0, [1.0, 5.0, 0.2, 30.0], size=(134, 4))
Y = (X[:, 0] * 5 + X[:, 1] > 18).astype(int)


def create_model(data):
    norm = Normalization()
    norm.adapt(data)
    model = Sequential([norm,
                        Dense(12, activation='relu', kernel_regularizer='l2'),
                        Dense(1, activation='sigmoid')])
    model.compile(loss='binary_crossentropy', optimizer='adam', metrics=['accuracy'])
    return model


kfold = StratifiedKFold(n_splits=3, shuffle=True, random_state=seed)
cvscores = []
histories = {}
for number, (train, test) in enumerate(kfold.split(X, Y)):
    K.clear_session()
    tf.keras.utils.set_random_seed(seed + number)
    model = create_model(X[train])
    histories[number] = model.fit(X[train], Y[train], epochs=3, batch_size=20, verbose=0).history
    scores = model.evaluate(X[test], Y[test], verbose=0)
    print("fold %d %s: %.8f%% %s: %.10f" % (number, model.metrics_names[1], scores[1] * 100,
                                            model.metrics_names[0], scores[0]))
    cvscores.append(scores[1] * 100)
    model.save_weights('fold_%d.h5' % number)
print("%.6f%% (+/- %.6f%%)" % (np.mean(cvscores), np.std(cvscores)))
print("last losses", ["%.10f" % h['loss'][-1] for h in histories.values()])
