"""What Keras does besides computing: files that it writes, figures by which callbacks decide.

Every worker goes through all of it; files are written by the first one.
"""

import functools
from typing import Any

from trainera.tf_crew.sameness import compare_workers
from trainera.tf_crew.state import CREW
from trainera.tf_crew.turns import once

SILENT = ("CSVLogger", "TensorBoard", "RemoteMonitor")
"""Callbacks that only tell others what happens; nothing that is trained depends on them."""
HOOKS = ("set_model", "set_params")


def connect_files() -> None:
    """Has Keras and TensorFlow write files by the first worker."""
    import tensorflow as tf
    from keras.src import callbacks
    from keras.src.engine import training

    for owner, names in (
        (training.Model, ("save", "save_weights", "export")),
        (tf.train.Checkpoint, ("save", "write")),
        (tf.train.CheckpointManager, ("save",)),
    ):
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, _by_first(getattr(owner, name)))
    tf.saved_model.save = _by_first(tf.saved_model.save)
    if CREW.rank > 0:
        for name in SILENT:
            _silence(getattr(callbacks, name), callbacks.Callback)


def _by_first(plain: Any) -> Any:
    @functools.wraps(plain)
    def act(*args: Any, **kwargs: Any) -> Any:
        return once(plain, *args, **kwargs)

    return act


def _silence(kind: Any, base: Any) -> None:
    """Has a callback do nothing on this worker."""
    for name in dir(kind):
        if name.startswith("on_") or name in HOOKS:
            setattr(kind, name, getattr(base, name))


def connect_decisions() -> None:
    """Has callbacks decide by the first worker's figures, and looks that workers are alike."""
    from keras.src import callbacks
    from keras.src.utils import tf_utils

    kind: Any = callbacks.CallbackList
    plain_epoch, plain_end = kind.on_epoch_end, kind.on_train_end

    def on_epoch_end(self: Any, epoch: Any, logs: Any = None) -> Any:
        if logs and not CREW.apart:
            logs = CREW.exchange.told_by_first(tf_utils.sync_to_numpy_or_python_type(logs))
            compare_workers(self.model.trainable_variables)
        return plain_epoch(self, epoch, logs)

    def on_train_end(self: Any, logs: Any = None) -> Any:
        done = plain_end(self, logs)
        if not CREW.apart:
            CREW.exchange.of_all(None)  # files of callbacks are complete when fit() returns
        return done

    kind.on_epoch_end, kind.on_train_end = on_epoch_end, on_train_end
