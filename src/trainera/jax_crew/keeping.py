"""What Keras does besides computing, on several processes: files are written by the first one."""

import functools
from typing import Any

import keras
import numpy
from keras.src.callbacks.callback_list import CallbackList
from keras.src.legacy.saving import legacy_h5_format
from keras.src.saving import saving_lib

from trainera.jax_crew.sameness import compare_processes
from trainera.jax_crew.state import CREW
from trainera.jax_crew.turns import in_turn, once

SILENT = ("CSVLogger", "TensorBoard", "RemoteMonitor")
"""Callbacks that only tell others what happens; nothing that is trained depends on them."""
HOOKS = ("set_model", "set_params")
WRITERS = (
    (saving_lib, ("save_model", "save_weights_only")),
    (legacy_h5_format, ("save_model_to_hdf5", "save_weights_to_hdf5_group")),
    (keras.Model, ("save", "save_weights", "export")),
    (keras.callbacks.BackupAndRestore, ("_save_model", "on_train_end")),
)
"""Where Keras writes: functions by which all others do, and callbacks that do it themselves."""


def connect_files() -> None:
    """Has Keras write files by the first process."""
    for owner, names in WRITERS:
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, through(once, getattr(owner, name)))
    restoring = keras.callbacks.BackupAndRestore  # may mend files before it reads them
    restoring.on_train_begin = through(in_turn, restoring.on_train_begin)
    if CREW.rank > 0:
        for name in SILENT:
            silence(getattr(keras.callbacks, name))


def through(turn: Any, plain: Any) -> Any:
    """A function that is called by `once`, or another one of them."""

    @functools.wraps(plain)
    def act(*args: Any, **kwargs: Any) -> Any:
        return turn(plain, *args, **kwargs)

    return act


def silence(kind: Any) -> None:
    """Has a callback do nothing on this process."""
    for name in dir(kind):
        if name.startswith("on_") or name in HOOKS:
            setattr(kind, name, getattr(keras.callbacks.Callback, name))


def connect_epochs() -> None:
    """Has processes look, at the end of each epoch, whether they are still alike."""
    plain_epoch, plain_end = CallbackList.on_epoch_end, CallbackList.on_train_end

    def on_epoch_end(self: Any, epoch: Any, logs: Any = None) -> Any:
        if not CREW.apart:
            values = [numpy.ravel(value) for value in (logs or {}).values()]
            compare_processes(tuple(map(float, numpy.concatenate(values))) if values else ())
        return plain_epoch(self, epoch, logs)

    def on_train_end(self: Any, logs: Any = None) -> Any:
        done = plain_end(self, logs)
        if not CREW.apart:
            compare_processes()  # files of callbacks are complete when fit() returns
        return done

    CallbackList.on_epoch_end, CallbackList.on_train_end = on_epoch_end, on_train_end
