"""Resume: load_model of an .h5 file with an own loss (custom_objects); the second run goes on training."""
import argparse
import os

import numpy as np
import tensorflow as tf
from tensorflow.keras.callbacks import CSVLogger, LambdaCallback
from tensorflow.keras.layers import Dense, Input
from tensorflow.keras.models import Model, load_model


def charbonnier(y_true, y_pred):
    return tf.reduce_mean(tf.sqrt(tf.square(y_true - y_pred) + 1e-3), axis=-1)


def build():
    i = Input((3,))
    o = Dense(1)(Dense(14, activation='softsign')(i))
    m = Model(i, o)
    m.compile(optimizer=tf.keras.optimizers.legacy.RMSprop(0.01), loss=charbonnier, metrics=['mae'])
    return m


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--more', type=int, default=2)
    parser.add_argument('--checkpoint', default='model.h5')
    args = parser.parse_args()

    tf.keras.backend.set_floatx('float64')
    tf.keras.utils.set_random_seed(44)
    x = np.random.normal(size=(142, 3))
    y = np.abs(x).sum(axis=1, keepdims=True)

    done = 0
    if os.path.isfile(args.checkpoint):
        model = load_model(args.checkpoint, custom_objects={'charbonnier': charbonnier})
        with open('epochs.txt') as f:
            done = int(f.read())
        print('loaded', args.checkpoint, 'after', done, 'epochs')
    else:
        model = build()

    show = LambdaCallback(on_epoch_end=lambda e, logs: print('epoch', e, '%.10f' % logs['loss'], '%.10f' % logs['mae']))
    model.fit(x, y, batch_size=33, epochs=done + args.more, initial_epoch=done, verbose=0,
              callbacks=[show, CSVLogger('training.csv', append=True)])
    model.save(args.checkpoint)
    with open('epochs.txt', 'w') as f:
        f.write(str(done + args.more))
    print('steps so far', int(model.optimizer.iterations))


main()
