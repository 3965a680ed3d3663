"""Data for workers that take their batches themselves, each when it is done with the last one."""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

AHEAD = 100
"""How many batches a worker holds to choose the next one from by chance, at most."""
FROM_PYTHON = ("GeneratorDataAdapter", "KerasSequenceAdapter")


def connect_data() -> None:
    """Has `fit` hand on arrays and pipelines in the one form in which workers can be sent them.

    An epoch has as many steps as ever, all workers together. Each has the whole data, over and
    over, and takes the batches in an order of its own, as TensorFlow's guide has it: which of them
    an epoch comes to see twice, and which not at all, is left to chance.
    """
    from keras.src.engine import data_adapter, training

    data_adapter.get_data_handler = for_workers(data_adapter.get_data_handler, data_adapter)
    verbosity = training._get_verbosity

    def quieter(verbose: Any, strategy: Any) -> Any:
        return verbosity(2 if verbose == 1 else verbose, strategy)

    training._get_verbosity = quieter  # a bar would have to wait for every step


def for_workers(plain: Callable[..., Any], adapters: Any) -> Callable[..., Any]:
    @functools.wraps(plain)
    def get_data_handler(*args: Any, **kwargs: Any) -> Any:
        if getattr(kwargs["model"], "_cluster_coordinator", None) is None:
            return plain(*args, **kwargs)
        if "pss_evaluation_shards" in kwargs:
            return None  # evaluated by the coordinator alone, which makes its own (`looking`)
        data, steps = whole(adapters, **kwargs)
        weights = kwargs.pop("class_weight", None)
        if weights:
            data = data.map(adapters._make_class_weight_map_fn(weights))
        own = {"y": None, "sample_weight": None, "batch_size": None, "steps_per_epoch": steps}
        return plain(*args, **{**kwargs, **own, "x": endless(data, steps)})

    return get_data_handler


def whole(adapters: Any, **kwargs: Any) -> "tuple[Any, int]":
    """The batches of an epoch as Keras would have made them, and how many there are."""
    x, y, steps = kwargs["x"], kwargs.get("y"), kwargs.get("steps_per_epoch")
    kind = adapters.select_data_adapter(x, y)
    if kind.__name__ in FROM_PYTHON:
        raise SystemExit(
            "trainera: the workers of ParameterServerStrategy make their batches themselves, and "
            "what Python gives one by one cannot be sent to them: train on arrays or on tf.data"
        )
    adapter = kind(
        x,
        y,
        sample_weights=kwargs.get("sample_weight"),
        batch_size=kwargs.get("batch_size"),
        steps=steps,
        epochs=1,
        shuffle=kwargs.get("shuffle", False),
        distribution_strategy=tf.distribute.get_strategy(),
        model=kwargs["model"],
    )
    data = adapter.get_dataset()
    if not steps:
        steps = adapter.get_size()
    if not steps:
        steps = int(data.cardinality())
    if steps == tf.data.INFINITE_CARDINALITY:
        raise SystemExit("trainera: data without an end: give fit() steps_per_epoch")
    if steps < 0:  # not known before they were counted
        steps = sum(1 for _ in data)
    return data, steps


def endless(data: Any, steps: int) -> Any:
    """Over and over, in an order that no seed decides: with one all workers would have the same."""
    data = data.repeat()
    parts = tf.nest.flatten(data.element_spec)
    shuffled = tf.raw_ops.ShuffleDataset(
        input_dataset=tf.data.experimental.to_variant(data),
        buffer_size=min(steps, AHEAD),
        seed=0,
        seed2=0,
        output_types=[part.dtype for part in parts],
        output_shapes=[part.shape for part in parts],
    )
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return tf.data.experimental.from_variant(shuffled, data.element_spec).with_options(options)
