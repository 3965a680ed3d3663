"""Training loop written by hand: stateless_call, jax.jit and stateless_apply; accuracy metric; batches by numpy."""
import os
os.environ["KERAS_BACKEND"] = "jax"
import jax
jax.config.update("jax_enable_x64", True)
import keras
import numpy as np
from sklearn.datasets import load_digits

keras.config.set_floatx("float64")
keras.utils.set_random_seed(5)

x, y = load_digits(n_class=6, return_X_y=True)
x, y = x[:270] / 16.0, y[:270]
x_train, y_train, x_val, y_val = x[:209], y[:209], x[209:], y[209:]


def batches(x, y, size, rng=None):
    order = np.arange(len(x)) if rng is None else rng.permutation(len(x))
    for i in range(0, len(x), size):
        rows = order[i:i + size]
        yield x[rows], y[rows]


model = keras.Sequential([
    keras.Input((64,)),
    keras.layers.Dense(20, activation="relu"),
    keras.layers.Dropout(0.1),
    keras.layers.Dense(6),
])
optimizer = keras.optimizers.Adam(learning_rate=5e-3)
loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
accuracy = keras.metrics.SparseCategoricalAccuracy()


def compute_loss_and_updates(trainable_variables, non_trainable_variables, x, y):
    y_pred, non_trainable_variables = model.stateless_call(
        trainable_variables, non_trainable_variables, x, training=True)
    return loss_fn(y, y_pred), (non_trainable_variables, y_pred)


grad_fn = jax.value_and_grad(compute_loss_and_updates, has_aux=True)


@jax.jit
def train_step(state, x, y):
    trainable, non_trainable, opt = state
    (loss, (non_trainable, y_pred)), grads = grad_fn(trainable, non_trainable, x, y)
    trainable, opt = optimizer.stateless_apply(opt, grads, trainable)
    return loss, y_pred, (trainable, non_trainable, opt)


optimizer.build(model.trainable_variables)
state = (
    [v.value for v in model.trainable_variables],
    [v.value for v in model.non_trainable_variables],
    [v.value for v in optimizer.variables],
)
rng = np.random.default_rng(8)
for epoch in range(3):
    total = 0.0
    accuracy.reset_state()
    for step, (xb, yb) in enumerate(batches(x_train, y_train, 33, rng)):
        loss, y_pred, state = train_step(state, xb, yb)
        total += float(loss) * len(xb)
        accuracy.update_state(yb, y_pred)
    print("epoch %d: loss %.10f, accuracy %.10f" % (epoch, total / len(x_train), float(accuracy.result())))

# back into the model
for variable, value in zip(model.trainable_variables, state[0]):
    variable.assign(value)
for variable, value in zip(model.non_trainable_variables, state[1]):
    variable.assign(value)
right = sum(int((np.asarray(model(xb)).argmax(1) == yb).sum()) for xb, yb in batches(x_val, y_val, 20))
print("validation accuracy %.10f" % (right / len(x_val)))
model.save_weights("loop.weights.h5")
