"""GradientTape loop with tf.function train and test steps, metric objects, tf.data, batch normalisation."""
import tensorflow as tf
from sklearn.datasets import load_digits
from tensorflow.keras import Model
from tensorflow.keras.layers import BatchNormalization, Conv2D, Dense, Flatten

tf.keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(3)
tf.config.experimental.enable_op_determinism()

x, y = load_digits(return_X_y=True)
x = x[:250].reshape(-1, 8, 8, 1) / 16.0
y = y[:250]
train_ds = tf.data.Dataset.from_tensor_slices((x[:195], y[:195])).shuffle(195, seed=2).batch(34)
test_ds = tf.data.Dataset.from_tensor_slices((x[195:], y[195:])).batch(34)


class MyModel(Model):
    def __init__(self):
        super().__init__()
        self.conv1 = Conv2D(6, 3, activation='relu')
        self.norm = BatchNormalization()
        self.flatten = Flatten()
        self.d1 = Dense(16, activation='relu')
        self.d2 = Dense(10)

    def call(self, x, training=False):
        x = self.norm(self.conv1(x), training=training)
        return self.d2(self.d1(self.flatten(x)))


model = MyModel()
loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
optimizer = tf.keras.optimizers.Adam()
train_loss = tf.keras.metrics.Mean(name='train_loss')
train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name='train_accuracy')
test_loss = tf.keras.metrics.Mean(name='test_loss')
test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name='test_accuracy')


@tf.function
def train_step(images, labels):
    with tf.GradientTape() as tape:
        predictions = model(images, training=True)
        loss = loss_object(labels, predictions)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    train_loss(loss)
    train_accuracy(labels, predictions)


@tf.function
def test_step(images, labels):
    predictions = model(images, training=False)
    test_loss(loss_object(labels, predictions))
    test_accuracy(labels, predictions)


for epoch in range(3):
    for metric in (train_loss, train_accuracy, test_loss, test_accuracy):
        metric.reset_states()
    for images, labels in train_ds:
        train_step(images, labels)
    for test_images, test_labels in test_ds:
        test_step(test_images, test_labels)
    print(
        f'Epoch {epoch + 1}, '
        f'Loss: {train_loss.result():.10f}, '
        f'Accuracy: {train_accuracy.result() * 100:.6f}, '
        f'Test Loss: {test_loss.result():.10f}, '
        f'Test Accuracy: {test_accuracy.result() * 100:.6f}')
model.save_weights('my_model.h5')
