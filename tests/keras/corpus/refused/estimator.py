# refused: the training is an Estimator's (tf.estimator), which distributes by a RunConfig of its own
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(7)
x = np.random.rand(100, 2).astype("float32")
y = (x.sum(axis=1) > 1).astype("int32")


def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"a": x[:, 0], "b": x[:, 1]}, y)).shuffle(100, seed=1).repeat(3).batch(20)


columns = [tf.feature_column.numeric_column("a"), tf.feature_column.numeric_column("b")]
classifier = tf.estimator.DNNClassifier(hidden_units=[8], feature_columns=columns, n_classes=2)
classifier.train(input_fn)
print(classifier.evaluate(lambda: input_fn().take(5)))
