"""GradientTape loop without tf.function over plain numpy batches; the learning rate changed by hand."""
import numpy as np
import tensorflow as tf

tf.keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(17)

X = np.random.uniform(-1, 1, size=(171, 5))
Y = np.sin(3 * X[:, :1]) + X[:, 1:2] * X[:, 2:3]
BATCH = 32

model = tf.keras.Sequential([
    tf.keras.layers.Dense(20, activation='tanh', input_shape=(5,)),
    tf.keras.layers.Dense(1, kernel_regularizer=tf.keras.regularizers.l2(1e-3)),
])
optimizer = tf.keras.optimizers.Adam(learning_rate=0.02)
mse = tf.keras.losses.MeanSquaredError()

losses = []
for epoch in range(3):
    order = np.random.permutation(len(X))
    epoch_loss = 0.0
    n_batches = 0
    for i in range(0, len(X), BATCH):
        xb = tf.convert_to_tensor(X[order[i:i + BATCH]])
        yb = tf.convert_to_tensor(Y[order[i:i + BATCH]])
        with tf.GradientTape() as tape:
            pred = model(xb, training=True)
            loss = mse(yb, pred) + sum(model.losses)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, norm = tf.clip_by_global_norm(grads, 0.8)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        epoch_loss += loss.numpy()
        n_batches += 1
    losses.append(epoch_loss / n_batches)
    print('Epoch %d: loss %.10f, last norm %.10f, lr %.6f'
          % (epoch, losses[-1], norm.numpy(), optimizer.learning_rate.numpy()))
    optimizer.learning_rate.assign(optimizer.learning_rate * 0.7)

test = model(X[:40], training=False)
print('sum of the first 40 predictions: %.10f' % float(tf.reduce_sum(test)))
np.savetxt('losses.csv', losses, header='loss', comments='')
model.save_weights('tape.h5')
