"""Joining: which devices there are, and the seams in Keras and TensorFlow."""

import contextlib
import functools
import os
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from trainera.mirror_crew.placing import connect_gradients
from trainera.mirror_crew.sharing import connect_calls
from trainera.mirror_crew.state import CREW, computing_whole

WANTED = "TRAINERA_DEVICES"


def join_devices() -> None:
    """Has batches shared out over all GPUs, or as many devices as were asked for."""
    if CREW.joined:
        return
    keras = required_keras()
    CREW.joined, CREW.names = True, chosen_devices()
    if len(CREW.names) > 1:
        connect_calls(keras.layers)
        connect_gradients()
        connect_compilation(keras.Model)
        connect_whole(keras)
        tf.compat.v1.disable_eager_execution = refuse_version_1
        tf.compat.v1.disable_v2_behavior = refuse_version_1


def required_keras() -> Any:
    """Keras, if it computes with TensorFlow, step by step unless told to compile."""
    import keras

    if keras.__version__.startswith("3.") and keras.backend.backend() != "tensorflow":
        raise SystemExit(
            "trainera: the script was converted for Keras on TensorFlow, and Keras runs on "
            f"{keras.backend.backend()}: set KERAS_BACKEND=tensorflow, or convert it for another "
            "engine"
        )
    if not tf.executing_eagerly():
        refuse_version_1()
    return keras


def refuse_version_1() -> None:
    raise SystemExit(
        "trainera: the script runs TensorFlow as version 1 did (disable_eager_execution, "
        "disable_v2_behavior), where batches cannot be shared out: leave that out"
    )


def chosen_devices() -> "list[str]":
    """As many as were asked for, else all GPUs; without any, the CPU as several devices."""
    wanted = int(os.environ.get(WANTED) or 0)
    gpus = tf.config.list_physical_devices("GPU")
    if wanted > len(gpus) > 0:
        raise SystemExit(
            f"trainera: {wanted} devices were asked for, and TensorFlow sees {len(gpus)} GPUs: ask "
            "for fewer, or set CUDA_VISIBLE_DEVICES=-1 to have the CPU stand for all of them"
        )
    for gpu in gpus:
        with contextlib.suppress(RuntimeError, ValueError):  # it is in use, or has a limit
            tf.config.experimental.set_memory_growth(gpu, True)
    if gpus:
        return [f"/GPU:{number}" for number in range(wanted or len(gpus))]
    [cpu] = tf.config.list_physical_devices("CPU")[:1]
    number = wanted or 1
    if number > 1 and len(tf.config.get_logical_device_configuration(cpu) or []) < number:
        parts = [tf.config.LogicalDeviceConfiguration() for _ in range(number)]
        try:
            tf.config.set_logical_device_configuration(cpu, parts)
        except (RuntimeError, ValueError) as error:
            raise SystemExit(
                "trainera: TensorFlow has computed, or was given devices, before the script "
                f"joined, so that no {number} can be made of the CPU: {error}"
            ) from error
    return [f"/CPU:{place}" for place in range(number)]


def connect_compilation(model: Any) -> None:
    """Has Keras not compile for one device what is computed on several.

    Where `compile` is defined: Keras looks whether a class has one of its own.
    """
    owner = next(kind for kind in model.__mro__ if "compile" in vars(kind))
    plain = owner.compile

    @functools.wraps(plain)
    def compile_model(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("jit_compile") is True:
            raise SystemExit(
                "trainera: compile(jit_compile=True) makes a program for one device, and the "
                "network is computed on several: leave jit_compile out"
            )
        done = plain(self, *args, **kwargs)
        if getattr(self, "jit_compile", None) is True:
            self.jit_compile = False
        return done

    owner.compile = compile_model


def connect_whole(keras: Any) -> None:
    """Has pipelines of data, and networks that are saved as programs, know one device only."""
    from tensorflow.python.data.ops import structured_function

    wrapper = structured_function.StructuredFunctionWrapper
    wrapper.__init__ = on_one_device(wrapper.__init__)
    for owner, names in (
        (keras.Model, ("save", "export")),
        (keras.models, ("save_model",)),
        (tf.saved_model, ("save",)),
    ):
        for name in names:
            if hasattr(owner, name):
                setattr(owner, name, on_one_device(getattr(owner, name)))


def on_one_device(plain: Callable[..., Any]) -> Callable[..., Any]:
    """A function within which nothing is shared out."""

    @functools.wraps(plain)
    def act(*args: Any, **kwargs: Any) -> Any:
        with computing_whole():
            return plain(*args, **kwargs)

    return act
