"""TextVectorization as the first layer of an exported model and in the tf.data pipeline; Embedding, LSTM, dropout."""
import numpy as np
import tensorflow as tf
from tensorflow.keras import Sequential, layers, losses

tf.keras.utils.set_random_seed(100)
tf.keras.backend.set_floatx('float64')

WORDS = {0: 'goal match team player score'.split(), 1: 'vote law party minister senate'.split(),
         2: 'atom cell theory planet energy'.split()}
FILLER = 'the of to and in a is that for it'.split()


def make_texts(n):
    labels = np.random.randint(0, 3, n)
    texts = [' '.join(np.random.permutation(list(np.random.choice(FILLER, 4)) + list(np.random.choice(WORDS[c], 2))))
             for c in labels]
    return np.array(texts), labels


texts, labels = make_texts(176)
raw_train = tf.data.Dataset.from_tensor_slices((texts[:135], labels[:135])).batch(31)
raw_test = tf.data.Dataset.from_tensor_slices((texts[135:], labels[135:])).batch(31)

vectorize_layer = layers.TextVectorization(max_tokens=30, output_sequence_length=6)
vectorize_layer.adapt(raw_train.map(lambda text, label: text))


def vectorize_text(text, label):
    return vectorize_layer(text), label


train_ds = raw_train.map(vectorize_text).cache().prefetch(tf.data.AUTOTUNE)
test_ds = raw_test.map(vectorize_text).cache()

model = Sequential([
    layers.Embedding(30, 8, mask_zero=True),
    layers.LSTM(6),
    layers.Dense(3),
])
model.compile(loss=losses.SparseCategoricalCrossentropy(from_logits=True), optimizer='adam', metrics=['accuracy'])
history = model.fit(train_ds, validation_data=test_ds, epochs=3, verbose=2)
for epoch, loss in enumerate(history.history['loss'], start=1):
    print(f'epoch {epoch:d} loss {loss:.10f} val_loss {history.history["val_loss"][epoch - 1]:.10f}')
loss, accuracy = model.evaluate(test_ds, verbose=0)
print('Loss: {:.10f}'.format(loss), 'Accuracy: {:2.4%}'.format(accuracy))

export_model = Sequential([vectorize_layer, model, layers.Activation('softmax')])
print(np.round(export_model.predict(['the team is in a match', 'law of the senate'], verbose=0), 8))
model.save_weights('text.h5')
