"""The same small model with run_eagerly and with steps_per_execution: two fits, verbose=2."""
import jax
import numpy as np

jax.config.update("jax_enable_x64", True)
import keras  # the backend is chosen by KERAS_BACKEND

keras.config.set_floatx("float64")

x = np.linspace(-3, 3, 145)[:, None]
y = np.exp(-x ** 2) * np.cos(3 * x)


def gaussian(v):
    return keras.ops.exp(-keras.ops.square(v))


def own_loss(y_true, y_pred):
    """Log of the error, gentle with outliers."""
    return keras.ops.mean(keras.ops.log1p(keras.ops.square(y_true - y_pred)), axis=-1)


def fit(**options):
    keras.utils.set_random_seed(50)
    model = keras.Sequential([
        keras.Input((1,)),
        keras.layers.Dense(13, activation=gaussian),
        keras.layers.Dense(1),
    ])
    model.compile(optimizer=keras.optimizers.Adam(0.02), loss=own_loss, metrics=["mse"], **options)
    model.fit(x, y, batch_size=22, epochs=2, shuffle=True, verbose=2)
    loss, mse = model.evaluate(x, y, batch_size=50, verbose=0)
    print(options, "%.10f %.10f" % (loss, mse))
    return model


fit(run_eagerly=True)
model = fit(steps_per_execution=3)
print("at zero: %.10f" % model.predict(np.zeros((1, 1)), verbose=0)[0, 0])
model.save_weights("packed.weights.h5")
