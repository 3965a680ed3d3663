"""A small convolutional network on scikit-learn's digits, with tf.keras 2.

    trainera run examples/tf_digits.py -n 2
"""

import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow.keras import layers

tf.keras.utils.set_random_seed(1)

digits = load_digits()
images = digits.images[..., None].astype("float32") / 16
train, test = (images[:1437], digits.target[:1437]), (images[1437:], digits.target[1437:])

model = tf.keras.Sequential(
    [
        layers.Conv2D(16, 3, activation="relu", input_shape=(8, 8, 1)),
        layers.BatchNormalization(),
        layers.MaxPooling2D(),
        layers.Flatten(),
        layers.Dropout(0.2),
        layers.Dense(10),
    ]
)
model.compile(
    optimizer=tf.keras.optimizers.Adam(2e-3),
    loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.fit(
    *train,
    batch_size=50,
    epochs=4,
    validation_data=test,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("digits.h5", save_best_only=True)],
    verbose=2,
)

with open("accuracy.txt", "w") as file:
    print(model.evaluate(*test, verbose=0)[1], file=file)
