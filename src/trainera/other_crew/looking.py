"""What is evaluated and predicted, the coordinator computes by itself, each row once."""

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tensorflow as tf


def connect_evaluation() -> None:
    """So that the figures that are compared are those of all samples, and of no other training."""
    for name in ("evaluate", "predict"):
        setattr(tf.keras.Model, name, by_coordinator(getattr(tf.keras.Model, name)))


def by_coordinator(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of networks, without the strategy, which is known to the main thread alone."""

    @functools.wraps(method)
    def act(network: Any, *args: Any, **kwargs: Any) -> Any:
        kwargs.pop("_use_cached_eval_dataset", None)
        kept = {name: getattr(network, name) for name in _OF_TRAINING}
        network._distribution_strategy = network._cluster_coordinator = None
        network.test_function = vars(network).get(_OWN)
        try:
            with ThreadPoolExecutor(1) as thread:
                return thread.submit(method, network, *args, **kwargs).result()
        finally:
            object.__setattr__(network, _OWN, network.test_function)
            for name, value in kept.items():
                setattr(network, name, value)

    return act


_OF_TRAINING = ("_distribution_strategy", "_cluster_coordinator", "test_function")
_OWN = "_trainera_test_function"
