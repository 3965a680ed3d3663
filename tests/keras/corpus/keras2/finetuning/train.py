"""Transfer learning from saved weights: frozen base, new head, then unfrozen with a smaller rate; one history of both."""
import numpy as np
import tensorflow as tf
from tensorflow import keras
from sklearn.datasets import load_digits

keras.utils.set_random_seed(60)
keras.backend.set_floatx('float64')

data = load_digits()
X = data.images[..., None] / 16.0
even = data.target % 2 == 0
source_x, source_y = X[even][:143], data.target[even][:143] // 2
target_x, target_y = X[~even][:160], data.target[~even][:160] // 2


def create_base_model():
    return keras.Sequential([
        keras.layers.Conv2D(6, 3, activation='relu', input_shape=(8, 8, 1), name='conv_a'),
        keras.layers.BatchNormalization(name='norm'),
        keras.layers.Conv2D(6, 3, activation='relu', name='conv_b'),
        keras.layers.GlobalAveragePooling2D(name='pool'),
    ], name='base')


# 1. "pretrained" weights
base_model = create_base_model()
pretraining = keras.Sequential([base_model, keras.layers.Dense(5, activation='softmax')])
pretraining.compile('rmsprop', 'sparse_categorical_crossentropy')
pretraining.fit(source_x, source_y, epochs=2, batch_size=30, verbose=0)
base_model.save_weights('base.h5')

# 2. the head alone
base_model = create_base_model()
base_model.load_weights('base.h5')
base_model.trainable = False
inputs = keras.Input((8, 8, 1))
outputs = keras.layers.Dense(5, name='head')(base_model(inputs, training=False))
model = keras.Model(inputs, outputs)
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.03),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
initial_epochs = 2
history = model.fit(target_x[:118], target_y[:118], batch_size=33, epochs=initial_epochs,
                    validation_data=(target_x[118:], target_y[118:]), verbose=0)
acc, loss = history.history['val_accuracy'], history.history['loss']
print('trainable variables', len(model.trainable_variables))

# 3. fine-tuning
base_model.trainable = True
for layer in base_model.layers:
    if isinstance(layer, keras.layers.BatchNormalization):
        layer.trainable = False
model.compile(optimizer=keras.optimizers.RMSprop(learning_rate=0.001),
              loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=['accuracy'])
print('trainable variables', len(model.trainable_variables))
history_fine = model.fit(target_x[:118], target_y[:118], batch_size=33, epochs=initial_epochs + 2,
                         initial_epoch=history.epoch[-1] + 1,
                         validation_data=(target_x[118:], target_y[118:]), verbose=0)
acc += history_fine.history['val_accuracy']
loss += history_fine.history['loss']
print('loss', np.array(loss).round(10).tolist())
print('val_accuracy', np.array(acc).round(10).tolist())
model.save_weights('tuned.h5')
