"""Rare class: class_weight, AUC, precision and recall; scikit-learn's report of the predictions afterwards."""
import os
os.environ['KERAS_BACKEND'] = 'jax'
import jax
jax.config.update("jax_enable_x64", True)

import numpy as np
import keras
from keras import layers, models
from sklearn.metrics import classification_report, confusion_matrix, roc_auc_score

keras.config.set_floatx('float64')
keras.utils.set_random_seed(2024)

n = 281
X = np.random.randn(n, 10)
y = ((X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * np.random.randn(n)) > 1.4).astype(int)
split = 200
neg, pos = np.bincount(y[:split])
print(f'Examples: {split}, positive: {pos} ({100 * pos / split:.2f}%)')

METRICS = [
    keras.metrics.TruePositives(name='tp'),
    keras.metrics.FalsePositives(name='fp'),
    keras.metrics.Precision(name='precision'),
    keras.metrics.Recall(name='recall'),
    keras.metrics.AUC(name='auc', num_thresholds=50),
]

# biased start, so that the first epochs are not lost on the base rate
model = models.Sequential([
    layers.Input((10,)),
    layers.Dense(16, activation='relu'),
    layers.Dense(1, activation='sigmoid',
                 bias_initializer=keras.initializers.Constant(np.log(pos / neg))),
])
model.compile(optimizer=keras.optimizers.Adam(1e-2), loss=keras.losses.BinaryCrossentropy(),
              metrics=METRICS)

class_weight = {0: split / (2.0 * neg), 1: split / (2.0 * pos)}
history = model.fit(X[:split], y[:split], batch_size=27, epochs=3, class_weight=class_weight, verbose=0)
for i in range(3):
    print(i, *(f'{k}: {v[i]:.8f}' for k, v in history.history.items()))

p = model.predict(X[split:], batch_size=40, verbose=0).ravel()
y_hat = (p > 0.5).astype(int)
print(confusion_matrix(y[split:], y_hat))
print(classification_report(y[split:], y_hat, digits=6, zero_division=0))
print('roc auc', roc_auc_score(y[split:], p))
for name, value in model.evaluate(X[split:], y[split:], verbose=0, return_dict=True).items():
    print(name, ': %.8f' % value)
model.save_weights('rare.weights.h5')
