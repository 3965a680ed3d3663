"""Weights that are read inside of a network: their gradients are added up over the workers."""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from trainera.tf_crew.region import Region
from trainera.tf_crew.state import CREW

CHANGES = ("assign", "assign_add", "assign_sub")


def connect_weights() -> None:
    """Has weights pass through `enter` where a network reads them."""
    from tensorflow.python.ops import resource_variable_ops

    kind: Any = resource_variable_ops.BaseResourceVariable
    plain_read, plain_lookup = kind._read_variable_op, kind.sparse_read

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        region = CREW.region
        if not isinstance(region, Region) or not self.trainable:
            return plain_read(self, *args, **kwargs)
        return region.reading(self, lambda: plain_read(self, *args, **kwargs))

    def look_up(self: Any, indices: Any, name: Any = None) -> Any:
        """A look-up is done for the whole batch: its gradient has to stay sparse."""
        region = CREW.region
        if not isinstance(region, Region) or not self.trainable:
            return plain_lookup(self, indices, name=name)
        return region.take(plain_lookup(self, region.gather(indices), name=name))

    def changing(plain: Any) -> Any:
        def change(self: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(CREW.region, Region):
                CREW.region.changed(self)
            return plain(self, *args, **kwargs)

        return change

    kind._read_variable_op, kind.sparse_read = read, look_up
    for name in CHANGES:
        setattr(kind, name, changing(getattr(kind, name)))


@contextlib.contextmanager
def entering(model: Any, region: Region) -> Iterator[None]:
    """The time in which a network's weights are read as those of this region.

    In compiled functions `connect_weights` sees to it. Where operations run at once, TensorFlow
    reads variables without asking Python, so tensors stand in the variables' places.
    """
    if not tf.executing_eagerly():
        for variable in model.trainable_variables if model.built else ():
            variable.value()  # enters here, not in a loop that may be further in
        yield
        return
    region.places = list(_places(model))
    try:
        for layer, name, variable in region.places:
            vars(layer)[name] = variable.value()
        yield
    finally:
        for layer, name, variable in region.places:
            vars(layer)[name] = variable


@contextlib.contextmanager
def leaving(layer: Any, region: Region) -> Iterator[None]:
    """The time in which a layer inside of a network computes with the whole batch, as outside."""
    inner = set(map(id, layer._flatten_layers()))
    places = [place for place in region.places if id(place[0]) in inner]
    entered = [vars(owner)[name] for owner, name, _ in places]
    for owner, name, variable in places:
        vars(owner)[name] = variable
    try:
        yield
    finally:
        for (owner, name, _), tensor in zip(places, entered, strict=True):
            vars(owner)[name] = tensor


def can_enter(model: Any) -> bool:
    """Whether all weights that a network reads can be made to enter.

    Where operations run at once: only those that are attributes of layers, and exist already.
    """
    if not tf.executing_eagerly():
        return True
    layers = list(model._flatten_layers())
    found = {id(variable) for _, _, variable in _places(model)}
    looked_up = {id(one) for layer in layers if _looks_up(layer) for one in layer.variables}
    needed = {id(variable) for variable in model.trainable_variables} if model.built else set()
    return (
        all(layer.built for layer in layers)
        and needed <= found | looked_up
        and all(layer.compute_dtype == layer.variable_dtype for layer in layers)
    )


def _places(model: Any) -> "Iterator[tuple[Any, str, Any]]":
    """Layer, attribute and weight, for all weights that are attributes of layers."""
    for layer in model._flatten_layers():
        for name, value in list(vars(layer).items()) if not _looks_up(layer) else ():
            if isinstance(value, tf.Variable) and value.trainable:
                yield layer, name, value


def _looks_up(layer: Any) -> bool:
    """Whether a layer reads rows of its weight by number, through `sparse_read`."""
    return type(layer).__name__ == "Embedding"


def values_of(variables: "list[Any]") -> "list[Any]":
    """Copies of what variables hold, to be put back."""
    with tf.init_scope():
        return [tf.identity(variable.value()) for variable in variables]
