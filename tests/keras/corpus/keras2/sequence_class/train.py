"""keras.utils.Sequence with augmentation by numpy and on_epoch_end; its last batch is short."""
import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow import keras
from tensorflow.keras import layers, models


class DataGenerator(keras.utils.Sequence):
    'Generates data for Keras'

    def __init__(self, ids, images, labels, batch_size=32, n_classes=10, shuffle=True):
        self.ids = list(ids)
        self.images = images
        self.labels = labels
        self.batch_size = batch_size
        self.n_classes = n_classes
        self.shuffle = shuffle
        self.on_epoch_end()

    def __len__(self):
        return int(np.ceil(len(self.ids) / self.batch_size))

    def __getitem__(self, index):
        chosen = [self.ids[k] for k in self.indexes[index * self.batch_size:(index + 1) * self.batch_size]]
        X = np.empty((len(chosen), 8, 8, 1))
        y = np.empty((len(chosen)), dtype=int)
        for i, ID in enumerate(chosen):
            # every second image of a shuffled epoch is rolled by one pixel
            X[i, :, :, 0] = np.roll(self.images[ID], i % 2 if self.shuffle else 0, axis=1)
            y[i] = self.labels[ID]
        return X, keras.utils.to_categorical(y, num_classes=self.n_classes)

    def on_epoch_end(self):
        self.indexes = np.arange(len(self.ids))
        if self.shuffle:
            np.random.shuffle(self.indexes)


def main():
    keras.backend.set_floatx('float64')
    keras.utils.set_random_seed(7)
    digits = load_digits()
    images = digits.images / 16.0
    params = {'batch_size': 26, 'n_classes': 10}
    training = DataGenerator(range(190), images, digits.target, **params)
    validation = DataGenerator(range(190, 250), images, digits.target, shuffle=False, **params)

    model = models.Sequential()
    model.add(layers.Conv2D(5, (3, 3), activation='relu', input_shape=(8, 8, 1)))
    model.add(layers.MaxPooling2D((2, 2)))
    model.add(layers.Flatten())
    model.add(layers.Dense(10, activation='softmax'))
    model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.02), loss='categorical_crossentropy',
                  metrics=['accuracy'])
    history = model.fit(x=training, validation_data=validation, epochs=3, shuffle=False, workers=1, verbose=0)
    for name in history.history:
        print(name, np.array2string(np.array(history.history[name]), precision=10))
    print('evaluate', ['%.10f' % v for v in model.evaluate(validation, verbose=0)])
    print('predict %.10f' % (model.predict(validation, verbose=0) * np.arange(10)).sum())
    model.save_weights('cnn.h5')


if __name__ == '__main__':
    main()
