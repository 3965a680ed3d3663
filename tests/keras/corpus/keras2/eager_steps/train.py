"""run_eagerly and steps_per_execution; a train_step that adds a gradient penalty and calls compiled loss and metrics."""
import numpy as np
import tensorflow as tf
from tensorflow import keras


class Smooth(keras.Model):
    """Penalises a steep output: the gradient with respect to the input."""

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                y_pred = self(x, training=True)
            slope = inner.gradient(y_pred, x)
            penalty = tf.reduce_mean(tf.reduce_sum(tf.square(slope), axis=1))
            loss = self.compiled_loss(y, y_pred, regularization_losses=self.losses) + 0.01 * penalty
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self.compiled_metrics.update_state(y, y_pred)
        return {m.name: m.result() for m in self.metrics}


def run(**kwargs):
    keras.utils.set_random_seed(38)
    inputs = keras.Input((4,))
    outputs = keras.layers.Dense(1)(keras.layers.Dense(10, activation='softplus')(inputs))
    model = Smooth(inputs, outputs)
    model.compile(optimizer='rmsprop', loss='mse', metrics=['mae'], **kwargs)
    x = np.random.normal(size=(113, 4))
    y = x[:, :1] * x[:, 1:2]
    history = model.fit(x[:95], y[:95], batch_size=18, epochs=2, validation_data=(x[95:], y[95:]), verbose=0)
    print(kwargs)
    for key, values in history.history.items():
        print('   ', key, *('%.10f' % v for v in values))
    return model


keras.backend.set_floatx('float64')
run(run_eagerly=True)
run(steps_per_execution=2)
model = run(jit_compile=False)
model.save_weights('smooth.h5')
