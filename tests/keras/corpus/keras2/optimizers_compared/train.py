"""A dictionary of optimizers (clipnorm, use_ema, weight decay, jit_compile=False), a model for each; float32 default."""
import tensorflow as tf
import numpy as np

tf.keras.utils.set_random_seed(0)
rng = np.random.RandomState(22)
x_train = rng.uniform(-1, 1, (131, 4)).astype(np.float32)
y_train = np.stack([x_train[:, 0] * x_train[:, 1], x_train[:, 2] ** 2], axis=1)

optimizers = {
    'sgd': lambda: tf.keras.optimizers.SGD(0.1, momentum=0.9, clipnorm=0.3),
    'adam_ema': lambda: tf.keras.optimizers.Adam(0.02, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=4),
    'adamw': lambda: tf.keras.optimizers.AdamW(0.02, weight_decay=0.05, global_clipnorm=1.0),
    'rmsprop': lambda: tf.keras.optimizers.RMSprop(0.01, centered=True, clipvalue=0.2),
}
summary = []
for name, make in optimizers.items():
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential(
        [tf.keras.layers.Dense(16, 'relu', input_dim=4), tf.keras.layers.Dense(2)], name=name)
    model.compile(optimizer=make(), loss='mse')
    history = model.fit(x_train, y_train, epochs=3, batch_size=26, validation_split=0.1, verbose=0)
    summary.append((history.history['val_loss'][-1], name))
    print(f"{name:10s}", " ".join(f"{v:.6f}" for v in history.history['loss'] + history.history['val_loss']))
    np.save(f'{name}.npy', np.concatenate([w.ravel() for w in model.get_weights()]))

print('best:', min(summary)[1])
