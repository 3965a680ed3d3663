"""Everything imported with a star, Sequential with add, fit on arrays with validation_split, old .h5 file."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import *
from tensorflow.keras.models import *
from tensorflow.keras.utils import to_categorical
from sklearn.datasets import load_digits

tf.keras.utils.set_random_seed(812)
tf.keras.backend.set_floatx('float64')

batch_size = 17
num_classes = 10
epochs = 3

digits = load_digits()
X = digits.images[:260].reshape(-1, 64) / 16
Y = to_categorical(digits.target[:260], num_classes)
X_train, X_test, Y_train, Y_test = X[:201], X[201:], Y[:201], Y[201:]
print(X_train.shape[0], 'train samples')
print(X_test.shape[0], 'test samples')

model = Sequential()
model.add(Dense(24, input_shape=(64,)))
model.add(Activation('relu'))
model.add(Dense(16, activation='relu'))
model.add(Dense(num_classes, activation='softmax'))

model.compile(loss='categorical_crossentropy', optimizer='adam', metrics=['accuracy'])
history = model.fit(X_train, Y_train, batch_size=batch_size, epochs=epochs, verbose=0, validation_split=0.2)

for i in range(epochs):
    print('Epoch', i + 1, ' - '.join('%s: %.10f' % (k, history.history[k][i]) for k in history.history))
score = model.evaluate(X_test, Y_test, verbose=0)
print('Test loss: %.10f' % score[0])
print('Test accuracy: %.10f' % score[1])
model.save('mlp.h5')
