"""The call of a network: each worker computes its rows, and all have what comes out of all rows.

Inside, what is known to treat rows one by one is given this worker's rows. Whatever else a network
has (a layer of the script's own, a function) is given the whole batch, computed by every worker
alike, and cut again: slower, and right. What proves to work row by row on trial is spared that.
"""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import tensorflow as tf

from trainera.tf_crew.layers import hands_on, works_by_rows
from trainera.tf_crew.reading import can_enter, entering, leaving
from trainera.tf_crew.region import Region
from trainera.tf_crew.sameness import note_batch
from trainera.tf_crew.state import CREW
from trainera.tf_crew.trying import Call, is_constant, proves_by_rows, row_layout

SQUASHING = {"Sigmoid": tf.nn.sigmoid, "Softmax": tf.nn.softmax}


@contextlib.contextmanager
def within(region: "Region | None", replicated: bool = False) -> Iterator[None]:
    """The time in which networks have these rows, or (None) all of them."""
    before = CREW.here.region, CREW.here.replicated
    CREW.here.region, CREW.here.replicated = region, replicated
    try:
        yield
    finally:
        CREW.here.region, CREW.here.replicated = before


def connect_calls() -> None:
    """Has every network that is called from outside of networks share out its batch."""
    from keras.src.engine import base_layer, training
    from tensorflow.python.data.ops import structured_function

    plain: Call = base_layer.Layer.__call__
    wrapper = structured_function.StructuredFunctionWrapper
    plain_pipeline: Call = wrapper.__init__

    def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
        region = CREW.here.region
        if region is not None and is_symbolic((args, kwargs)):
            with within(None, replicated=True):  # a network is put together: nothing is computed
                return plain(layer, *args, **kwargs)
        if region is not None:
            return inner_call(plain, region, layer, args, kwargs)
        if CREW.may_split and isinstance(layer, training.Model):
            return outer_call(plain, layer, args, kwargs)
        return plain(layer, *args, **kwargs)

    def pipeline(self: Any, *args: Any, **kwargs: Any) -> None:
        """Functions of a data pipeline run at no time that all workers know."""
        with within(None, replicated=True):
            plain_pipeline(self, *args, **kwargs)

    base_layer.Layer.__call__ = call
    wrapper.__init__ = pipeline


def outer_call(plain: Call, model: Any, args: Any, kwargs: Any) -> Any:
    """A network is called with a whole batch."""
    batch = tf.nest.map_structure(as_tensor, (args, kwargs))
    if not can_be_cut(model, batch):
        return plain(model, *args, **kwargs)
    note_batch(batch)
    by_rows = hands_on(model) or proves_by_rows(plain, model, batch)
    if not by_rows or not can_enter(model):
        return plain(model, *args, **kwargs)
    region = Region(row_count(batch))
    region.tried = not hands_on(model)
    mine_args, mine_kwargs = cut(region, batch)
    with within(region), entering(model, region):
        mine = plain(model, *mine_args, **mine_kwargs)
    whole = joined(region, mine)
    learning = CREW.here.learning
    if learning is not None and learning.model is model:
        learning.note(region, mine, whole)
    return whole


def inner_call(plain: Call, region: Region, layer: Any, args: Any, kwargs: Any) -> Any:
    """A layer of a network is called with this worker's rows."""
    if region.tried or hands_on(layer):
        return plain(layer, *args, **kwargs)
    batch = (args, kwargs)
    note_constants(region, layer, batch)
    found = [one for one in tensors(batch) if not is_constant(layer, one)]
    if not any(map(region.is_alike, found)):
        if works_by_rows(layer, found[0].shape.rank if found else None):
            return plain(layer, *args, **kwargs)
        if is_cuttable(found) and proves_by_rows(plain, layer, batch):
            region.tried = True
            try:
                return plain(layer, *args, **kwargs)
            finally:
                region.tried = False
    whole_args, whole_kwargs = joined(region, batch)
    with within(None, replicated=True), leaving(layer, region):
        outputs = plain(layer, *whole_args, **whole_kwargs)
    if all(map(region.is_alike, found)):
        tf.nest.map_structure(region.note_alike, outputs)
        return outputs
    return cut_with_rows(region, plain, layer, batch, outputs)


def cut_with_rows(region: Region, plain: Call, layer: Any, batch: Any, outputs: Any) -> Any:
    """This worker's rows of what was computed of the whole batch; what has no rows stays whole."""
    leaves = tf.nest.flatten(outputs)
    layout = row_layout(plain, layer, batch)
    if layout is None:  # by what is left open where the network is compiled
        layout = ["rows" if one.shape.rank and one.shape[0] is None else "none" for one in leaves]
    if "neither" in layout or len(layout) != len(leaves):
        raise SystemExit(
            f"trainera: the layer '{layer.name}' gives a number of rows that does not follow that "
            "of the batch, so that it cannot be told whose they are: compute it outside of the "
            "network"
        )
    found = []
    for leaf, kind in zip(leaves, layout, strict=True):
        if kind == "none":
            region.note_alike(leaf)
            found.append(leaf)
        else:
            found.append(with_remarks_of(leaf, region.take(leaf), region.take))
    return tf.nest.pack_sequence_as(outputs, found)


def as_tensor(value: Any) -> Any:
    """Arrays as the tensors that Keras would make of them."""
    return tf.convert_to_tensor(value) if isinstance(value, numpy.ndarray) else value


def note_constants(region: Region, layer: Any, batch: Any) -> None:
    """Constants among the arguments of a function in a network are the same on every worker."""
    for one in tensors(batch):
        if is_constant(layer, one):
            region.note_alike(one)


def tensors(structure: Any) -> "list[Any]":
    return [leaf for leaf in tf.nest.flatten(structure) if tf.is_tensor(leaf)]


def is_symbolic(structure: Any) -> bool:
    """Whether these are the tensors of which Keras makes networks."""
    return any(type(leaf).__name__.endswith("KerasTensor") for leaf in tf.nest.flatten(structure))


def is_cuttable(batch: Any) -> bool:
    """Whether all tensors are plain ones of one and the same number of rows, as far as is known."""
    found = tensors(batch)
    plain = all(isinstance(one, tf.Tensor) and one.shape.rank for one in found)
    known = {one.shape[0] for one in found if plain and one.shape[0] is not None}
    return bool(found) and plain and len(known) <= 1


def can_be_cut(model: Any, batch: Any) -> bool:
    """Whether a network takes any number of rows, and keeps nothing of them for the next batch."""
    if is_symbolic(batch) or not is_cuttable(batch):
        return False
    layers = list(model._flatten_layers())
    if any(getattr(layer, "stateful", False) is True for layer in layers):
        return False
    fixed = [getattr(layer, "_batch_input_shape", None) for layer in layers]
    return not any(shape and shape[0] is not None for shape in fixed) and not turns(model)


def turns(model: Any) -> bool:
    """Whether a network moves its rows to another dimension, as what goes through steps first."""
    if not hands_on(model) or not model.built:
        return False
    made = [
        tuple(one.shape)
        for nodes in getattr(model, "_nodes_by_depth", {}).values()
        for node in nodes
        for one in tf.nest.flatten(node.outputs)
    ]
    return any(shape and shape[0] is not None and None in shape for shape in made)


def row_count(batch: Any) -> Any:
    """The number of rows; all tensors have to have it."""
    found = tensors(batch)
    rows = tf.shape(found[0])[0]
    for one in found[1:]:
        if one.shape[0] is None or found[0].shape[0] is None:
            message = "trainera: a network is given tensors of unequal numbers of rows"
            check = tf.debugging.assert_equal(tf.shape(one)[0], rows, message)
            with tf.control_dependencies([check] if check is not None else []):
                rows = tf.identity(rows)
    return rows


def cut(region: Region, structure: Any) -> Any:
    """This worker's rows of every tensor."""

    def one(leaf: Any) -> Any:
        if not tf.is_tensor(leaf):
            return leaf
        return with_remarks_of(leaf, region.take(leaf), region.take)

    return tf.nest.map_structure(one, structure)


def joined(region: Region, structure: Any) -> Any:
    """All rows of every tensor."""

    def one(leaf: Any) -> Any:
        if not tf.is_tensor(leaf) or region.is_alike(leaf):
            return leaf
        return with_remarks_of(leaf, region.gather(leaf), region.gather)

    return tf.nest.map_structure(one, structure)


def with_remarks_of(before: Any, after: Any, passed: Callable[[Any], Any]) -> Any:
    """What Keras writes on a tensor goes along: which of its steps are padding, and its logits.

    Losses compute from logits where a network ends with a sigmoid or softmax. Some find them by
    looking at the operation, each loss at one of the two, so the operation has to be there, too.
    """
    mask = getattr(before, "_keras_mask", None)
    logits = getattr(before, "_keras_logits", None)
    if logits is not None:
        after._keras_logits = passed(logits)
    elif not tf.executing_eagerly() and before.op.type in SQUASHING:
        after = SQUASHING[before.op.type](passed(before.op.inputs[0]))
    if mask is not None:
        after._keras_mask = passed(mask)
    return after
