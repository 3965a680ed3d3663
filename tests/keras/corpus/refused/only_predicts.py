# refused: nothing is trained: a saved model is loaded and asked for predictions
import sys

import numpy as np
from tensorflow import keras

model = keras.models.load_model(sys.argv[1] if len(sys.argv) > 1 else "model.h5")
model.summary()
images = np.load("images.npy") / 255.0
probabilities = model.predict(images, batch_size=64)
for i, row in enumerate(probabilities[:10]):
    print(i, row.argmax(), round(float(row.max()), 4))
np.save("labels.npy", probabilities.argmax(axis=1))
