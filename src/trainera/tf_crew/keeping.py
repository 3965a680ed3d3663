"""What Keras does besides computing: files that it writes, figures by which callbacks decide.

Every worker goes through all of it; files are written by the first one.
"""

import functools
from typing import Any

import numpy

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
    from keras.src.distribute import worker_training_state
    from keras.src.engine import training

    for owner, names in (
        (training.Model, ("save", "save_weights", "export")),
        (tf.train.Checkpoint, ("write",)),
        (worker_training_state.WorkerTrainingState, ("delete_backup",)),
    ):
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, _by_first(getattr(owner, name)))
    tf.saved_model.save = _by_first(tf.saved_model.save)
    checkpoint, manager = tf.train.Checkpoint, tf.train.CheckpointManager
    checkpoint.save = _by_first(checkpoint.save, _counters_of_checkpoint)
    manager.save = _by_first(manager.save, _counters_of_manager)
    if CREW.rank > 0:
        for name in SILENT:
            _silence(getattr(callbacks, name), callbacks.Callback)


def _by_first(plain: Any, state: Any = None) -> Any:
    """A function that the first worker calls; its answer, and what it keeps, are told to all."""

    @functools.wraps(plain)
    def act(*args: Any, **kwargs: Any) -> Any:
        answer = once(plain, *args, **kwargs)
        if state is None or CREW.here.apart or CREW.size == 1:
            return answer
        told = CREW.exchange.told_by_first((answer, state(args[0]) if CREW.rank == 0 else None))
        if CREW.rank > 0:
            state(args[0], told[1])
        return told[0]

    vars(act)["by_first_worker"] = True
    return act


def _counters_of_checkpoint(checkpoint: Any, known: Any = None) -> Any:
    """How often a checkpoint was saved; asked for, or (`known`) taken over."""
    if known is not None:
        checkpoint._maybe_create_save_counter()
        checkpoint.save_counter.assign(known)
    return int(checkpoint.save_counter)


def _counters_of_manager(manager: Any, known: Any = None) -> Any:
    """The same for a manager, with the files that it knows of."""
    names = ("_latest_checkpoint", "_maybe_delete", "_last_preserved_timestamp")
    if known is not None:
        _counters_of_checkpoint(manager._checkpoint, known[0])
        for name, value in zip(names, known[1], strict=True):
            setattr(manager, name, value)
    count = _counters_of_checkpoint(manager._checkpoint)
    return count, [getattr(manager, name) for name in names]


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
        if logs and not CREW.here.apart:
            logs = tf_utils.sync_to_numpy_or_python_type(logs)
            compare_workers(
                tuple(map(float, numpy.concatenate([*map(numpy.ravel, logs.values())])))
            )
            logs = CREW.exchange.told_by_first(logs)
        return plain_epoch(self, epoch, logs)

    def on_train_end(self: Any, logs: Any = None) -> Any:
        done = plain_end(self, logs)
        if not CREW.here.apart:
            CREW.exchange.of_all(None)  # files of callbacks are complete when fit() returns
        return done

    kind.on_epoch_end, kind.on_train_end = on_epoch_end, on_train_end
