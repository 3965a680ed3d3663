"""CNN with augmentation layers in the model, batch normalisation, SpatialDropout and GaussianNoise."""
import os
os.environ['KERAS_BACKEND'] = 'jax'

import jax
import keras
from keras import layers
from sklearn.datasets import load_digits

jax.config.update('jax_enable_x64', True)
keras.config.set_floatx('float64')
keras.utils.set_random_seed(1001)

num_classes = 10
epochs = 2
batch_size = 26

x, y = load_digits(return_X_y=True)
x = x[:220].reshape((-1, 8, 8, 1)) / 16.
y = y[:220]

augment = keras.Sequential([
    layers.RandomFlip('horizontal', seed=1),
    layers.GaussianNoise(0.05, seed=3),
], name='augmentation')


def block(x, filters):
    x = layers.Conv2D(filters, 3, padding='same', use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation('relu')(x)
    return layers.SpatialDropout2D(0.1)(x)


inputs = keras.Input((8, 8, 1))
h = augment(inputs)
h = block(h, 6)
h = layers.MaxPooling2D()(h)
h = block(h, 8)
h = layers.GlobalAveragePooling2D()(h)
h = layers.Dropout(0.2)(h)
outputs = layers.Dense(num_classes, activation='softmax', kernel_regularizer=keras.regularizers.L2(1e-3))(h)
model = keras.Model(inputs, outputs)

model.compile(loss='sparse_categorical_crossentropy',
              optimizer=keras.optimizers.Adam(learning_rate=0.01, clipvalue=0.5),
              metrics=['accuracy', keras.metrics.SparseTopKCategoricalAccuracy(k=3, name='top3')])
history = model.fit(x[:175], y[:175], batch_size=batch_size, epochs=epochs, validation_data=(x[175:], y[175:]),
                    verbose=0)
for epoch in range(epochs):
    print('Epoch %d' % (epoch + 1), {k: round(v[epoch], 9) for k, v in sorted(history.history.items())})
for layer in model.layers:
    if isinstance(layer, layers.BatchNormalization):
        gamma, beta, mean, variance = layer.get_weights()
        print(layer.name, 'mean %.10f variance %.10f' % (mean.sum(), variance.sum()))
model.save('cnn.keras')
