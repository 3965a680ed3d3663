"""Resume: the second run finds the saved model with its optimizer and trains on from the epoch it had reached."""
import os

os.environ["KERAS_BACKEND"] = "jax"
os.environ["JAX_ENABLE_X64"] = "1"

import argparse
import json
from pathlib import Path

import keras
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=2, help="epochs of this run")
parser.add_argument("--folder", type=Path, default=Path("checkpoints"))
args = parser.parse_args()

keras.utils.set_random_seed(123)
keras.config.set_floatx("float64")
args.folder.mkdir(exist_ok=True)
state_file = args.folder / "state.json"
model_file = args.folder / "last.keras"

x = np.random.uniform(-2, 2, size=(166, 2))
y = (np.hypot(x[:, 0], x[:, 1]) < 1.3).astype("float64")[:, None]

if state_file.exists():
    start = json.loads(state_file.read_text())["epoch"]
    model = keras.saving.load_model(model_file)
    print(f"resuming after epoch {start}, {int(model.optimizer.iterations)} steps done")
else:
    start = 0
    model = keras.Sequential([
        keras.layers.Input((2,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    schedule = keras.optimizers.schedules.ExponentialDecay(0.05, decay_steps=5, decay_rate=0.9, staircase=True)
    model.compile(keras.optimizers.Adam(schedule), loss="binary_crossentropy", metrics=["binary_accuracy"])
    print("starting from scratch")

history = model.fit(
    x, y, batch_size=37, initial_epoch=start, epochs=start + args.epochs, verbose=0,
    callbacks=[keras.callbacks.ModelCheckpoint(model_file)],
)
for epoch, loss, acc in zip(history.epoch, history.history["loss"], history.history["binary_accuracy"]):
    print(f"epoch {epoch + 1}: {loss:.10f} {acc:.10f}")
state_file.write_text(json.dumps({"epoch": start + args.epochs, "loss": history.history["loss"][-1]}))
