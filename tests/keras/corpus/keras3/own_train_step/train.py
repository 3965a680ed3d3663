"""Own train_step and test_step in the style of JAX (stateless), with metrics of the model's own."""
import os

os.environ["KERAS_BACKEND"] = "jax"

import jax
import keras
import numpy as np

jax.config.update("jax_enable_x64", True)


class Regressor(keras.Model):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.loss_tracker = keras.metrics.Mean(name="loss")
        self.mae = keras.metrics.MeanAbsoluteError(name="mae")

    @property
    def metrics(self):
        return [self.loss_tracker, self.mae]

    def loss_and_updates(self, trainable, non_trainable, x, y, training=False):
        y_pred, non_trainable = self.stateless_call(trainable, non_trainable, x, training=training)
        loss = keras.ops.mean(keras.ops.square(keras.ops.squeeze(y_pred, -1) - y))
        return loss, (y_pred, non_trainable)

    def train_step(self, state, data):
        trainable, non_trainable, optimizer_vars, metric_vars = state
        x, y = data
        grad_fn = jax.value_and_grad(self.loss_and_updates, has_aux=True)
        (loss, (y_pred, non_trainable)), grads = grad_fn(trainable, non_trainable, x, y, training=True)
        trainable, optimizer_vars = self.optimizer.stateless_apply(optimizer_vars, grads, trainable)

        n = len(self.loss_tracker.variables)
        loss_vars = self.loss_tracker.stateless_update_state(metric_vars[:n], loss, sample_weight=x.shape[0])
        mae_vars = self.mae.stateless_update_state(metric_vars[n:], y, keras.ops.squeeze(y_pred, -1))
        logs = {
            "loss": self.loss_tracker.stateless_result(loss_vars),
            "mae": self.mae.stateless_result(mae_vars),
        }
        return logs, (trainable, non_trainable, optimizer_vars, loss_vars + mae_vars)


keras.config.set_floatx("float64")
keras.utils.set_random_seed(1)
x = np.random.random((175, 12))
y = x @ np.linspace(-1, 1, 12) + np.sin(4 * x[:, 0])

inputs = keras.Input(shape=(12,))
hidden = keras.layers.Dense(14, activation="tanh")(inputs)
hidden = keras.layers.BatchNormalization(momentum=0.9)(hidden)
model = Regressor(inputs, keras.layers.Dense(1)(hidden))
model.compile(optimizer=keras.optimizers.Adam(0.02))
history = model.fit(x, y, epochs=3, batch_size=22, verbose=0)
for epoch, (loss, mae) in enumerate(zip(history.history["loss"], history.history["mae"])):
    print(f"epoch {epoch}: loss={loss:.10f} mae={mae:.10f}")
print("prediction", f"{model.predict(x, verbose=0).sum():.10f}")
print("norms", [f"{np.linalg.norm(w):.10f}" for w in model.get_weights()])
model.save_weights("own_step.weights.h5")
