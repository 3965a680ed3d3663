# refused: a graph and a session of TensorFlow 1, with neither fit nor a loop over batches of Keras
import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.set_random_seed(5)
x = tf.placeholder(tf.float32, [None, 4])
y = tf.placeholder(tf.float32, [None, 1])
hidden = tf.layers.dense(x, 8, activation=tf.nn.relu)
prediction = tf.layers.dense(hidden, 1)
loss = tf.losses.mean_squared_error(y, prediction)
train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss)

data = np.random.RandomState(0).rand(120, 4)
target = data.sum(axis=1, keepdims=True)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for epoch in range(3):
        for i in range(0, 120, 25):
            _, value = sess.run([train_op, loss], {x: data[i:i + 25], y: target[i:i + 25]})
        print(epoch, value)
