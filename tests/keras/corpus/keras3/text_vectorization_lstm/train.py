"""TextVectorization adapted on the texts and used in the tf.data pipeline; Embedding with mask, bidirectional LSTM."""
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import numpy as np
import tensorflow as tf
import keras
from keras.layers import LSTM, Bidirectional, Dense, Embedding, Input, TextVectorization

keras.utils.set_random_seed(9)
keras.config.set_floatx("float64")

good = ["lovely", "great", "funny", "brilliant", "warm"]
bad = ["dull", "awful", "slow", "boring", "cold"]
neutral = ["the", "film", "was", "and", "a", "plot", "with", "actors", "very"]
rng = np.random.RandomState(0)
texts, labels = [], []
for i in range(143):
    label = rng.randint(2)
    words = list(rng.choice(neutral, rng.randint(3, 7))) + list(rng.choice(good if label else bad, 2))
    rng.shuffle(words)
    texts.append(" ".join(words).capitalize() + "!")
    labels.append(label)

vectorize = TextVectorization(max_tokens=22, output_mode="int", output_sequence_length=8)
vectorize.adapt(tf.data.Dataset.from_tensor_slices(texts).batch(32))
print("vocabulary:", vectorize.get_vocabulary()[:6], "…", len(vectorize.get_vocabulary()))


def dataset(texts, labels, training):
    ds = tf.data.Dataset.from_tensor_slices((texts, labels))
    if training:
        ds = ds.shuffle(200, seed=3)
    return ds.batch(21).map(lambda text, label: (vectorize(text), label))


train = dataset(texts[:110], labels[:110], True)
test = dataset(texts[110:], labels[110:], False)

model = keras.Sequential()
model.add(Input((8,), dtype="int64"))
model.add(Embedding(22, 6, mask_zero=True))
model.add(Bidirectional(LSTM(5)))
model.add(Dense(1, activation="sigmoid"))
model.compile("rmsprop", "binary_crossentropy", metrics=["accuracy"])

for epoch in range(2):
    result = model.fit(train, epochs=epoch + 1, initial_epoch=epoch, verbose=0)
    loss, acc = model.evaluate(test, verbose=0)
    print(f"epoch {epoch}: train {result.history['loss'][0]:.10f}, test {loss:.10f}, accuracy {acc:.6f}")

scores = model.predict(vectorize(np.array(["Very funny plot!", "the film was awful and slow"])), verbose=0)
print("scores", [f"{s:.10f}" for s in scores[:, 0]])
model.save_weights("sentiment.weights.h5")
