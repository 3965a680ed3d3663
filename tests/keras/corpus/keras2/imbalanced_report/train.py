"""class_weight, counting metrics, then confusion matrix and report by scikit-learn; predictions written to a file."""
import numpy as np
import tensorflow as tf
from sklearn.metrics import classification_report, confusion_matrix
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_class_weight
from tensorflow.keras import Input, Sequential, callbacks, metrics
from tensorflow.keras.layers import Dense

tf.keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(64)

# -- data ---------------------------------------------------------
rng = np.random.RandomState(3)
y = rng.choice(3, size=272, p=[0.75, 0.18, 0.07])
X = rng.normal(size=(272, 8)) + np.array([[0.0], [0.9], [-1.1]])[y]
X_train, X_test = X[:196], X[196:]
y_train, y_test = y[:196], y[196:]
scaler = StandardScaler().fit(X_train)
X_train, X_test = scaler.transform(X_train), scaler.transform(X_test)
weights = dict(enumerate(compute_class_weight('balanced', classes=np.unique(y_train), y=y_train)))
print('weights', {k: round(v, 6) for k, v in weights.items()})

# -- model --------------------------------------------------------
model = Sequential([Input((8,)), Dense(14, 'relu'), Dense(3, 'softmax')])
model.compile('adam', 'sparse_categorical_crossentropy',
              metrics=['accuracy', metrics.SparseCategoricalCrossentropy(name='unweighted')])
history = model.fit(X_train, y_train, batch_size=23, epochs=3, class_weight=weights,
                    validation_data=(X_test, y_test), verbose=0, callbacks=[callbacks.TerminateOnNaN()])
print(*('%s %.10f' % (k, v[-1]) for k, v in history.history.items()), sep='\n')

# -- report -------------------------------------------------------
y_prob = model.predict(X_test, batch_size=32, verbose=0)
y_pred = np.argmax(y_prob, axis=1)
print(confusion_matrix(y_test, y_pred))
print(classification_report(y_test, y_pred, digits=5, zero_division=0))
np.save('probabilities.npy', y_prob)
