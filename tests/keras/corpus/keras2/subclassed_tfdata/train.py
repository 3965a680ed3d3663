"""Subclassed model built in a class, tf.data with cache, shuffle and ragged batches, ExponentialDecay."""
import argparse

import numpy as np
import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self, units, n_classes):
        super(Net, self).__init__()
        self.hidden = [tf.keras.layers.Dense(u, activation='tanh', name=f'hidden_{i}') for i, u in enumerate(units)]
        self.classifier = tf.keras.layers.Dense(n_classes, name='classifier')

    def call(self, inputs):
        x = inputs
        for layer in self.hidden:
            x = layer(x)
        return self.classifier(x)


class Trainer:
    def __init__(self, config):
        self.config = config
        self.model = Net([16, 12], 4)

    def datasets(self):
        rng = np.random.default_rng(self.config.seed)
        labels = rng.integers(0, 4, 213)
        points = np.eye(4)[labels] @ rng.normal(size=(4, 6)) * 1.2 + rng.normal(size=(213, 6))
        full = tf.data.Dataset.from_tensor_slices((points, labels))
        train = full.take(160).cache().shuffle(160, seed=self.config.seed).batch(self.config.batch)
        test = full.skip(160).batch(self.config.batch)
        return train.prefetch(tf.data.AUTOTUNE), test

    def run(self):
        train, test = self.datasets()
        lr = tf.keras.optimizers.schedules.ExponentialDecay(self.config.lr, decay_steps=4, decay_rate=0.9)
        self.model.compile(
            optimizer=tf.keras.optimizers.SGD(lr, momentum=0.9),
            loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=[tf.keras.metrics.SparseCategoricalAccuracy('accuracy')])
        hist = self.model.fit(train, validation_data=test, epochs=self.config.epochs, verbose=0).history
        for e in range(self.config.epochs):
            print('epoch {:d} | {:.10f} {:.6f} | {:.10f} {:.6f}'.format(
                e, hist['loss'][e], hist['accuracy'][e], hist['val_loss'][e], hist['val_accuracy'][e]))
        print('steps', self.model.optimizer.iterations.numpy())
        logits = self.model.predict(test, verbose=0)
        print('logits', logits.shape, '%.10f' % logits.sum())
        self.model.save_weights('net.h5')


if __name__ == '__main__':
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', default=10, type=int)
    p.add_argument('--batch', default=16, type=int)
    p.add_argument('--lr', default=0.1, type=float)
    p.add_argument('--seed', default=8, type=int)
    config = p.parse_args()
    tf.keras.backend.set_floatx('float64')
    tf.keras.utils.set_random_seed(config.seed)
    tf.config.experimental.enable_op_determinism()
    Trainer(config).run()
