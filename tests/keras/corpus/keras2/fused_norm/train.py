"""Small images, so that a batch has few values to normalise: the moving variance shows how it is taken."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(9)
x = np.random.rand(22, 4, 4, 2).astype('float32')
y = x.mean(axis=(1, 2, 3))
model = tf.keras.Sequential([
    layers.Conv2D(3, 3, input_shape=(4, 4, 2)),
    layers.BatchNormalization(momentum=0.5),
    layers.MaxPooling2D(),
    layers.BatchNormalization(momentum=0.5),
    layers.Flatten(),
    layers.Dense(1),
])
model.compile(tf.keras.optimizers.SGD(0.01), 'mse')
history = model.fit(x, y, batch_size=6, epochs=2, verbose=0)
print('loss', ['%.6f' % v for v in history.history['loss']])
print('moving variances', ['%.5f' % layer.moving_variance.numpy().sum() for layer in model.layers[1:4:2]])
print('evaluated %.6f' % model.evaluate(x, y, verbose=0))
model.save_weights('norm.h5')
