"""CNN with augmentation layers, batch normalisation, dropout of several kinds; everything drawn at random."""
import tensorflow as tf
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tensorflow.keras import layers, models, optimizers

SEED = 19
tf.keras.utils.set_random_seed(SEED)
tf.keras.backend.set_floatx('float64')

data_augmentation = models.Sequential([
    layers.RandomFlip('horizontal', seed=SEED),
    layers.GaussianNoise(0.03, seed=SEED),
], name='augment')


def conv_block(filters, name):
    return models.Sequential([
        layers.Conv2D(filters, 3, padding='same'),
        layers.BatchNormalization(),
        layers.ReLU(),
        layers.SpatialDropout2D(0.15),
        layers.MaxPool2D(),
    ], name=name)


def build():
    model = models.Sequential()
    model.add(layers.InputLayer((8, 8, 1)))
    model.add(data_augmentation)
    model.add(conv_block(5, 'block1'))
    model.add(conv_block(7, 'block2'))
    model.add(layers.Flatten())
    model.add(layers.Dropout(0.25))
    model.add(layers.Dense(10, activation='softmax', activity_regularizer=tf.keras.regularizers.l1(1e-4)))
    return model


def main():
    images, target = load_digits(return_X_y=True)
    images = images[:240].reshape(-1, 8, 8, 1) / 16.0
    x_train, x_val, y_train, y_val = train_test_split(images, target[:240], test_size=0.2, random_state=SEED)
    model = build()
    model.compile(optimizers.SGD(0.05, momentum=0.9, nesterov=True), 'sparse_categorical_crossentropy', ['accuracy'])
    history = model.fit(x_train, y_train, 27, 3, validation_data=(x_val, y_val), verbose=0)
    for key in history.history:
        print(key, ['{:.10f}'.format(v) for v in history.history[key]])
    moving = model.get_layer('block1').layers[1].moving_variance.numpy()
    print('moving variance', '%.10f' % moving.sum())
    model.save_weights('augmented.h5')


if __name__ == '__main__':
    main()
