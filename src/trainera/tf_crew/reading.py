"""Weights that are read inside of a network: their gradients are added up over the workers."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import tensorflow as tf

from trainera.tf_crew.layers import hands_on, works_by_rows
from trainera.tf_crew.region import Region, enter
from trainera.tf_crew.state import CREW

CHANGES = ("assign", "assign_add", "assign_sub")


def connect_weights() -> None:
    """Has weights pass through `enter` where a network reads them."""
    from tensorflow.python.ops import resource_variable_ops

    kind: Any = resource_variable_ops.BaseResourceVariable
    plain_read, plain_lookup = kind._read_variable_op, kind.sparse_read
    plain_nd = kind.gather_nd

    def read(self: Any, *args: Any, **kwargs: Any) -> Any:
        region = CREW.here.region
        if not isinstance(region, Region) or not self.trainable:
            return plain_read(self, *args, **kwargs)
        return region.reading(self, lambda: plain_read(self, *args, **kwargs))

    def look_up(self: Any, indices: Any, name: Any = None) -> Any:
        """A look-up is done for the whole batch: its gradient has to stay sparse."""
        region = CREW.here.region
        if not isinstance(region, Region) or not self.trainable:
            return plain_lookup(self, indices, name=name)
        if not tf.executing_eagerly() and (not indices.shape.rank or indices.shape[0] is not None):
            return enter(plain_lookup(self, indices, name=name))  # positions, say: the same for all
        if indices.shape.rank == 1 and indices.ref() not in region.wholes:
            return by_length(indices, lambda every: plain_lookup(self, every, name=name))
        return region.take(plain_lookup(self, region.gather(indices), name=name))

    def look_up_nd(self: Any, indices: Any, name: Any = None) -> Any:
        if not isinstance(CREW.here.region, Region) or not self.trainable:
            return plain_nd(self, indices, name=name)
        return tf.gather_nd(self.value(), indices)

    def changing(plain: Any) -> Any:
        def change(self: Any, *args: Any, **kwargs: Any) -> Any:
            if isinstance(CREW.here.region, Region):
                CREW.here.region.changed(self)
            return plain(self, *args, **kwargs)

        return change

    kind._read_variable_op, kind.sparse_read, kind.gather_nd = read, look_up, look_up_nd
    for name in CHANGES:
        setattr(kind, name, changing(getattr(kind, name)))


def by_length(indices: Any, look_up: "Callable[[Any], Any]") -> Any:
    """Looks up what all workers want, of a list that may be one of rows or one of positions."""
    lengths = CREW.exchange.gather(tf.shape(indices), tf.ones([CREW.size], tf.int32))
    begin = tf.reduce_sum(lengths[: CREW.rank])

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def mine(found: Any) -> Any:
        own = found[begin : begin + lengths[CREW.rank]]
        return own, lambda gradient: CREW.exchange.gather(gradient, lengths)

    own = mine(look_up(CREW.exchange.gather(indices, lengths)))
    own.set_shape([*indices.shape, *own.shape[1:]])
    return own


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

    Where operations run at once: only those that are attributes of layers, and exist already. Code
    of the script's own may read them in other ways.
    """
    if not tf.executing_eagerly():
        return True
    layers = list(model._flatten_layers())
    if not all(hands_on(layer) or works_by_rows(layer) for layer in layers):
        return False
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
