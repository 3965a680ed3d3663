"""Own layers of the trickier kind, compiled and eager; the best weights restored by a manager."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.backend.set_floatx('float64')
x = np.random.RandomState(0).rand(50, 6)
y = x.sum(axis=1, keepdims=True)


class DropPath(layers.Layer):
    def call(self, t, training=None):
        if not training:
            return t
        keep = tf.floor(0.97 + tf.random.uniform((tf.shape(t)[0], 1), dtype=t.dtype))
        return t * keep


class Gated(layers.Layer):
    """Centres the batch, once its gate has opened."""

    def build(self, shape):
        self.gate = self.add_weight('gate', shape=(), initializer='zeros')

    def call(self, t):
        return t + self.gate * (t - tf.reduce_mean(t, axis=0))


class Running(layers.Layer):
    def build(self, shape):
        self.mean = self.add_weight('mean', shape=(shape[-1],), initializer='zeros', trainable=False)
        self.steps = self.add_weight('steps', shape=(), initializer='zeros', trainable=False)

    def call(self, t, training=None):
        if training:
            self.mean.assign(0.9 * self.mean + 0.1 * tf.reduce_mean(t, axis=0))
            self.steps.assign_add(1.0)
        return t - self.mean


class TwoViews(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential([layers.Dense(5, 'tanh'), layers.Dropout(0.3), layers.Dense(3)])

    def call(self, t, training=None):
        one, other = tf.split(self.encoder(tf.concat([t, 2.0 * t], axis=0), training=training), 2)
        return tf.reduce_sum(one * other, axis=1, keepdims=True)


class Positions(keras.Model):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = layers.Embedding(9, 4), layers.Embedding(10, 4)
        self.out = layers.Dense(1)

    def call(self, t):
        return self.out(tf.reduce_mean(self.tokens(t) + self.places(tf.range(10)), axis=1))


class Tied(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(4)

    def call(self, t):
        return tf.matmul(self.dense(t), self.dense.weights[0], transpose_b=True)


class Jitter(layers.Layer):
    """Draws by a seed of its own, by the script's, and from a generator."""

    def call(self, t, training=None):
        if not training:
            return t
        shape = tf.shape(t)
        noise = tf.random.uniform(shape, dtype=t.dtype, seed=5) + tf.random.normal(shape, dtype=t.dtype)
        return t + 0.1 * noise + 0.1 * tf.random.get_global_generator().uniform(shape, dtype=t.dtype)


def fitted(name, model, x, y, eager=False):
    keras.utils.set_random_seed(3)
    tf.random.set_global_generator(tf.random.Generator.from_seed(4))
    model.compile(keras.optimizers.SGD(0.05), 'mse', run_eagerly=eager)
    history = model.fit(x, y, batch_size=8, epochs=2, verbose=0)
    print(name, *('%.10f' % v for v in history.history['loss']))
    return model


keras.utils.set_random_seed(2)
net = fitted('layers', keras.Sequential([layers.Dense(5), DropPath(), Gated(), Running(), layers.Dense(1)]), x, y)
print('running %.10f %.1f' % (net.layers[3].mean.numpy().sum(), net.layers[3].steps.numpy()))
fitted('views', TwoViews(), x, y)
fitted('positions', Positions(), np.random.RandomState(1).randint(0, 9, (50, 10)), y)
fitted('noise', keras.Sequential([layers.Dense(5), Jitter(), layers.Dense(1)]), x, y)
fitted('noise, eager', keras.Sequential([layers.Dense(5), Jitter(), layers.Dense(1)]), x, y, eager=True)

keras.utils.set_random_seed(4)
tied, optimizer = Tied(), keras.optimizers.Adam(0.02)
checkpoint = tf.train.Checkpoint(model=tied, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, 'checkpoints', max_to_keep=2)
for step in range(6):
    batch = tf.constant(x[8 * step:8 * step + 7])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tied(batch) - batch) ** 2)
    optimizer.apply_gradients(zip(tape.gradient(loss, tied.trainable_variables), tied.trainable_variables))
    if step == 2:
        manager.save()
    print('step %d %.10f' % (step, loss))
checkpoint.restore(manager.latest_checkpoint)
print('restored %.10f' % float(tf.reduce_sum(tied(x))), manager.latest_checkpoint)
