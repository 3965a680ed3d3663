"""The calls of Keras's layers: those that are known compute the rows of each device there.

Whatever is not known is called as ever, with the whole batch.
"""

import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from trainera.mirror_crew.drawing import drawn
from trainera.mirror_crew.layers import (
    ADDING,
    MULTIPLYING,
    NORMALISING,
    ROW_BY_ROW,
    treats_rows_alone,
)
from trainera.mirror_crew.normalising import normalised
from trainera.mirror_crew.parts import Cuts, cut_up, join
from trainera.mirror_crew.state import CREW, computing_whole

Call = Callable[..., Any]

GIVEN = ("mask", "training", "initial_state", "query", "value", "key", "inputs", "sequences")
"""Arguments of layers that are known to have a row for each sample, or none of their own."""
SEVERAL = ("MultiHeadAttention", "GroupQueryAttention")
"""Layers that take query, value and key one by one."""
MASKS = ("query_mask", "value_mask", "key_mask", "attention_mask")
"""The same; of `attention_mask` only what has a dimension for samples."""


def connect_calls(layers: Any) -> None:
    """Has the known ones of Keras's layers share out their batches."""
    for names, way in (
        (ROW_BY_ROW, by_rows),
        (NORMALISING, normalising),
        (MULTIPLYING | ADDING, drawing),
    ):
        for name in sorted(names):
            kind = getattr(layers, name, None)
            if kind is not None:
                kind.call = sharing(kind, kind.call, way)


def sharing(kind: Any, plain: Call, way: Call) -> Call:
    """A layer's call; a class that a script derives from the layer's calls the plain one."""

    @functools.wraps(plain)
    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        if type(layer) is not kind or CREW.here.whole:
            return plain(layer, *args, **kwargs)
        return way(plain, layer, args, kwargs)

    decorated: Call = tf.__internal__.decorator.make_decorator(plain, call)
    return decorated


def by_rows(plain: Call, layer: Any, args: Any, kwargs: Any) -> Any:
    """The rows of each device, as the layer computes them."""
    found = tensors((args, kwargs))
    rank = found[0].shape.rank if found else None
    if not (treats_rows_alone(layer, rank) and are_rows(found) and are_usual(layer, args, kwargs)):
        return plain(layer, *args, **kwargs)
    require_alike(found)
    pieces, cuts = in_parts((args, kwargs))
    outputs = []
    for name, (mine, mine_by_name) in zip(CREW.names, pieces, strict=True):
        with tf.device(name), computing_whole():
            outputs.append(plain(layer, *mine, **mine_by_name))
    return in_one(outputs, cuts)


def normalising(plain: Call, layer: Any, args: Any, kwargs: Any) -> Any:
    """Batch normalisation: in training by statistics of all parts."""
    found = tensors((args, kwargs))
    if not are_rows(found) or len(args) != 1:
        return plain(layer, *args, **kwargs)
    return normalised(plain, layer, args[0], **kwargs)


def drawing(plain: Call, layer: Any, args: Any, kwargs: Any) -> Any:
    """Dropout and noise: drawn for the whole batch."""
    if len(args) != 1 or not are_rows(tensors((args, kwargs))):
        return plain(layer, *args, **kwargs)
    return drawn(plain, layer, args[0], adding=type(layer).__name__ in ADDING, **kwargs)


def tensors(structure: Any) -> "list[Any]":
    return [leaf for leaf in tf.nest.flatten(structure) if tf.is_tensor(leaf)]


def are_rows(found: "list[Any]") -> bool:
    """Whether all tensors are plain ones of one number of rows, as far as is known."""
    plain = all(isinstance(one, tf.Tensor) and one.shape.rank for one in found)
    return bool(found) and plain and len({one.shape[0] for one in found}) == 1


def are_usual(layer: Any, args: Any, kwargs: Any) -> bool:
    """Whether nothing is given besides that might have no row for each sample."""
    name = type(layer).__name__
    if len(args) > (3 if name in SEVERAL else 1) or (
        name == "Softmax" and kwargs.get("mask") is not None
    ):
        return False
    for name, value in kwargs.items():
        given = tensors(value)
        if given and name not in (*GIVEN, *MASKS):
            return False
        if name == "attention_mask" and any(one.shape.rank < 3 for one in given):
            return False
    return True


def require_alike(found: "list[Any]") -> None:
    """Ends the run where tensors that go together have unequal numbers of rows."""
    if found[0].shape[0] is None:
        for one in found[1:]:
            message = "trainera: a layer is given tensors of unequal numbers of rows"
            tf.debugging.assert_equal(tf.shape(one)[0], tf.shape(found[0])[0], message)


def in_parts(structure: Any) -> "tuple[list[Any], Cuts]":
    """The structure as each device has it, and which rows those are."""
    leaves, known = [], []
    for leaf in tf.nest.flatten(structure):
        if tf.is_tensor(leaf):
            parts, cuts = cut_up(leaf)
            known.append(cuts)
        leaves.append(parts if tf.is_tensor(leaf) else [leaf] * len(CREW.names))
    return [
        tf.nest.pack_sequence_as(structure, [leaf[number] for leaf in leaves])
        for number in range(len(CREW.names))
    ], known[0]


def in_one(outputs: "list[Any]", cuts: Cuts) -> Any:
    """What all devices computed, as one."""
    leaves = zip(*map(tf.nest.flatten, outputs), strict=True)
    found = [join(list(leaf), cuts) if tf.is_tensor(leaf[0]) else leaf[0] for leaf in leaves]
    return tf.nest.pack_sequence_as(outputs[0], found)
