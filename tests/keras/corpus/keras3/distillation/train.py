"""Distillation: a teacher trained first, then a student by a Distiller model whose compute_loss asks the teacher."""
import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np
from keras import layers
from sklearn.datasets import load_digits

jax.config.update("jax_enable_x64", True)


class Distiller(keras.Model):
    def __init__(self, student, teacher, alpha=0.3, temperature=2.0):
        super().__init__()
        self.student, self.teacher = student, teacher
        self.alpha, self.temperature = alpha, temperature
        self.teacher.trainable = False

    def call(self, x, training=None):
        return self.student(x, training=training)

    def compute_loss(self, x=None, y=None, y_pred=None, sample_weight=None, training=True):
        soft = keras.ops.softmax(self.teacher(x, training=False) / self.temperature, axis=1)
        mine = keras.ops.log_softmax(y_pred / self.temperature, axis=1)
        distillation = -keras.ops.mean(keras.ops.sum(soft * mine, axis=1)) * self.temperature ** 2
        hard = super().compute_loss(x=x, y=y, y_pred=y_pred, sample_weight=sample_weight)
        return self.alpha * hard + (1 - self.alpha) * distillation


def mlp(width, name):
    return keras.Sequential([keras.Input((64,)), layers.Dense(width, "relu"), layers.Dense(10)], name=name)


def main():
    keras.config.set_floatx("float64")
    keras.utils.set_random_seed(15)
    x, y = load_digits(return_X_y=True)
    x_train, y_train, x_test, y_test = x[:200] / 16, y[:200], x[200:270] / 16, y[200:270]
    crossentropy = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    accuracy = keras.metrics.SparseCategoricalAccuracy

    teacher = mlp(40, "teacher")
    teacher.compile(keras.optimizers.Adam(0.01), crossentropy, metrics=[accuracy()])
    log = teacher.fit(x_train, y_train, batch_size=33, epochs=2, verbose=0).history
    print("teacher", *("%.10f" % v for v in log["loss"]))
    print("teacher on the test set %.10f %.10f" % tuple(teacher.evaluate(x_test, y_test, verbose=0)))

    distiller = Distiller(mlp(8, "student"), teacher)
    distiller.compile(optimizer=keras.optimizers.Adam(0.01), loss=crossentropy, metrics=[accuracy()])
    log = distiller.fit(x_train, y_train, batch_size=33, epochs=3, verbose=0).history
    print("student", *("%.10f" % v for v in log["loss"]))
    results = distiller.evaluate(x_test, y_test, batch_size=33, verbose=0, return_dict=True)
    print("student on the test set", {k: "%.10f" % v for k, v in sorted(results.items())})
    distiller.student.save_weights("student.weights.h5")


if __name__ == "__main__":
    main()
