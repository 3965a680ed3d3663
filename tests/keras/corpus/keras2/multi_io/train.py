"""Two inputs, two outputs, lists of losses and loss_weights; TimeDistributed and LSTM; the graph at module level."""
import numpy as np
import tensorflow as tf
from tensorflow.keras.layers import LSTM, Concatenate, Dense, Input, TimeDistributed
from tensorflow.keras.models import Model

tf.keras.backend.set_floatx('float64')
tf.keras.utils.set_random_seed(29)

n, steps = 149, 5
sequence = np.random.normal(size=(n, steps, 3))
static = np.random.normal(size=(n, 2))
total = sequence.sum(axis=(1, 2)).reshape(-1, 1)
kind = ((sequence[:, -1, 0] + static[:, 0]) > 0).astype('float64').reshape(-1, 1)

sequence_in = Input(shape=(steps, 3), name='sequence')
static_in = Input(shape=(2,), name='static')
h = TimeDistributed(Dense(4, activation='tanh'))(sequence_in)
h = LSTM(6)(h)
h = Concatenate()([h, static_in])
total_out = Dense(1, name='total')(h)
kind_out = Dense(1, activation='sigmoid', name='kind')(h)
model = Model(inputs=[sequence_in, static_in], outputs=[total_out, kind_out])

model.compile(optimizer=tf.keras.optimizers.Adam(0.02),
              loss=['mse', 'binary_crossentropy'],
              loss_weights=[0.1, 1.0],
              metrics={'total': 'mae', 'kind': ['accuracy', tf.keras.metrics.AUC(name='auc', num_thresholds=20)]})

cut = 115
history = model.fit([sequence[:cut], static[:cut]], [total[:cut], kind[:cut]],
                    validation_data=([sequence[cut:], static[cut:]], [total[cut:], kind[cut:]]),
                    epochs=3, batch_size=22, verbose=0)
for k in sorted(history.history):
    print('%-16s' % k, ' '.join('%.10f' % v for v in history.history[k]))

result = model.evaluate([sequence[cut:], static[cut:]], [total[cut:], kind[cut:]], batch_size=22, verbose=0)
print(dict(zip(model.metrics_names, np.round(result, 9))))
a, b = model.predict({'sequence': sequence[cut:], 'static': static[cut:]}, verbose=0)
print('%.10f %.10f' % (a.sum(), b.sum()))
model.save('multi.keras')
