"""Losses by name, set in other ways, weighed, masked, asked for gradients: one small network each."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(17)
keras.backend.set_floatx("float64")
draw = np.random.default_rng(17)
x = draw.normal(size=(37, 6))
figures = draw.uniform(0.1, 0.9, size=(37, 3))
classes = draw.integers(0, 3, 37)
one_hot = keras.utils.to_categorical(classes, 3)
yes_or_no = (classes > 0).astype(float)


def train(what, loss, y, last="softmax", units=3, **settings):
    model = keras.Sequential([layers.Dense(5, activation="tanh"), layers.Dense(units, last)])
    weighed = {name: settings.pop(name) for name in list(settings) if name.endswith("weight")}
    model.compile(keras.optimizers.SGD(0.1), loss, **settings)
    history = model.fit(x, y, batch_size=10, epochs=2, verbose=0, **weighed)
    print(what, history.history, float(tf.reduce_sum(tf.abs(model.weights[0]))))


train("named", "sparse_categorical_crossentropy", classes, metrics=["accuracy"])
train("logits", keras.losses.SparseCategoricalCrossentropy(from_logits=True), classes, None)
train("smoothed", keras.losses.CategoricalCrossentropy(label_smoothing=0.1), one_hot)
train("operation", "categorical_crossentropy", one_hot, tf.nn.softmax)
train("odd pair", "binary_crossentropy", one_hot, tf.nn.softmax)
train("odd pair, the other way", "categorical_crossentropy", figures, tf.nn.sigmoid)
train("yes or no", "binary_crossentropy", yes_or_no, "sigmoid", 1, metrics=["accuracy", "AUC"])
train("hinge", "hinge", yes_or_no, "tanh", 1)
train("sum", keras.losses.MeanSquaredError(reduction="sum"), figures, loss_weights=0.02)
train("none", keras.losses.MeanSquaredError(reduction="none"), figures)
train("ignoring", keras.losses.SparseCategoricalCrossentropy(ignore_class=1), classes)
train("along the batch", keras.losses.CosineSimilarity(axis=0), figures)
train("samples", "mse", figures, sample_weight=draw.uniform(size=37))
train("classes", "sparse_categorical_crossentropy", classes, class_weight={0: 1.0, 1: 2.0, 2: 0.5})
train("several steps at once", "mae", figures, steps_per_execution=2)
train("eager", "huber", figures, run_eagerly=True)


def steep(y_true, y_pred):
    """Asks how a loss of Keras's own changes with what the network gave."""
    loss = keras.losses.MeanSquaredError()(y_true, y_pred)
    return loss + tf.norm(tf.gradients(loss, y_pred)[0])


train("asked for gradients", steep, figures)


class Steep(keras.Model):
    """The same in a step of its own."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(3)

    def call(self, inputs):
        return self.dense(inputs)

    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                y_pred = self(x, training=True)
                loss = self.compute_loss(x, y, y_pred)
            loss += tf.norm(inner.gradient(loss, y_pred))
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        return self.compute_metrics(x, y, y_pred, None)


own = Steep()
own.compile(keras.optimizers.Adam(0.01), "mse")
print("own step", own.fit(x, figures, batch_size=10, epochs=2, verbose=0).history)

words = draw.integers(0, 7, (37, 5))
tagger = keras.Sequential(
    [layers.Embedding(7, 4, mask_zero=True), layers.LSTM(5, return_sequences=True), layers.Dense(3)]
)
tagger.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
print("masked", tagger.fit(words, words % 3, batch_size=10, epochs=2, verbose=0).history)

inputs = keras.Input((6,))
inner = layers.Dense(4, activation="relu")(inputs)
names = {"left": layers.Dense(3, name="left")(inner), "right": layers.Dense(1, name="right")(inner)}
two = keras.Model(inputs, names)
two.compile("adam", {"left": "mse", "right": "log_cosh"}, loss_weights={"left": 0.3, "right": 2.0})
targets = {"left": figures, "right": yes_or_no}
print("two", two.fit(x, targets, batch_size=10, epochs=2, verbose=0).history)

# A batch of one row, which only one worker has.
rest = keras.Sequential([layers.Dense(3)])
rest.compile("sgd", "poisson")
print("rest", rest.fit(abs(x[:21]), figures[:21], batch_size=10, epochs=2, verbose=0).history)
np.save("left.npy", two.predict(x, verbose=0)["left"])
