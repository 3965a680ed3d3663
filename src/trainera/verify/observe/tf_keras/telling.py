"""What tensors hold, told when they are computed: at once, or when a compiled function runs."""

import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from trainera.verify.observe.record import put

_LAST: "weakref.WeakKeyDictionary[Any, Any]" = weakref.WeakKeyDictionary()
"""By graph: the last operation of it that tells something; the next one waits for it."""


def tell(function: Callable[..., None], tensors: Sequence[Any]) -> None:
    """Calls a function with what the tensors hold, in the order in which the program says it."""
    if tf.executing_eagerly():
        function(*(tf.convert_to_tensor(one).numpy() for one in tensors))
        return
    graph = tf.compat.v1.get_default_graph()
    before = _LAST.get(graph)
    with tf.control_dependencies([] if before is None else [before]):
        _LAST[graph] = tf.numpy_function(function, list(tensors), [])


def hook(owner: Any, name: str, around: Callable[[Any], Any]) -> None:
    """Puts a function in the place of a framework's own, of whose module it seems to be.

    So autograph takes it for what it need not convert.
    """
    plain = getattr(owner, name)
    put(owner, name, functools.wraps(plain)(around(plain)))


def figures(tensors: Sequence[Any]) -> tuple[Any, Any]:
    """Norm and sum of all entries together."""
    wide = [tf.cast(tf.convert_to_tensor(one), tf.float64) for one in tensors]
    squares = tf.add_n([tf.reduce_sum(one * one) for one in wide])
    return tf.sqrt(squares), tf.add_n([tf.reduce_sum(one) for one in wide])
