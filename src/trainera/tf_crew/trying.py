"""Whether code of the script's own treats the rows of a batch one by one: found out by a trial.

It is given made-up rows: all of them, parts of them, the same in another order, and twice. If every
row comes out the same each time, training or not, rows are treated one by one. If it draws random
numbers, adds a loss, writes into a variable, or fails, it is not: then it is given whole batches,
which is right whatever it does.
"""

import contextlib
import io
import random
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import tensorflow as tf

from trainera.tf_crew.layers import may_be_tried
from trainera.tf_crew.reading import values_of
from trainera.tf_crew.state import CREW

ROWS = 6
STEPS = 5
"""For dimensions that the code leaves open, such as the length of a text."""
PARTS = ([0, 1], [2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
TOLERANCE = {"float64": 1e-10, "float32": 1e-4}

Call = Callable[..., Any]


class Trials:
    """What was found out so far."""

    def __init__(self) -> None:
        self.known: weakref.WeakKeyDictionary[Any, dict[str, bool]] = weakref.WeakKeyDictionary()


TRIALS = Trials()


def is_constant(layer: Any, leaf: Any) -> bool:
    """Whether a tensor was written into the network where it calls a layer: it has no rows."""
    if not tf.is_tensor(leaf):
        return False
    nodes = layer._inbound_nodes
    return any(
        leaf is one for node in nodes for one in tf.nest.flatten((node.call_args, node.call_kwargs))
    )


def proves_by_rows(plain: Call, layer: Any, batch: Any) -> bool:
    """Whether a layer or network treats rows one by one; tried once for each kind of input."""
    leaves = tf.nest.flatten(batch)
    kind = [
        (tuple(leaf.shape[1:]), leaf.dtype.name) if tf.is_tensor(leaf) else repr(leaf)
        for leaf in leaves
    ]
    known = TRIALS.known.setdefault(layer, {})
    key = repr(kind)
    if key not in known:
        known[key] = may_be_tried(layer) and _tried(plain, layer, batch)
    return known[key]


def _tried(plain: Call, layer: Any, batch: Any) -> bool:
    with tf.init_scope(), _no_part_of_the_run():
        try:
            made_up = tf.nest.map_structure(
                lambda leaf: leaf if is_constant(layer, leaf) else _made_up(leaf), batch
            )
            plain(layer, *made_up[0], **made_up[1])  # makes its weights, if it has none
            variables = [*layer.variables, *_of_metrics(layer)]
            before = values_of(variables)
            good = all(_same_by_parts(plain, layer, made_up, mode) for mode in _modes(layer))
            after = values_of(variables)
            unchanged = all(bool(tf.reduce_all(a == b)) for a, b in zip(before, after, strict=True))
            for variable, value in zip(variables, before, strict=True):
                variable.assign(value)
            quiet = not any(one._losses or one._eager_losses for one in layer._flatten_layers())
        except Exception:  # whatever it is: code of the script's own that made-up rows do not suit
            return False
        finally:
            layer._clear_losses()
    return good and unchanged and quiet


def _of_metrics(layer: Any) -> "Iterator[Any]":
    for one in layer._flatten_layers():
        for metric in one._metrics:
            yield from metric.variables


@contextlib.contextmanager
def _no_part_of_the_run() -> Iterator[None]:
    """Nothing is heard of it, and random numbers go on where they were."""
    from tensorflow.python.eager import context

    generator = context.context()._rng
    states = random.getstate(), numpy.random.get_state()
    own = None if generator is None else generator.getstate()
    before = CREW.region, CREW.trying
    CREW.region, CREW.trying = None, True
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        CREW.region, CREW.trying = before
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        if generator is not None:
            generator.setstate(own)


def _modes(layer: Any) -> "tuple[dict[str, bool], ...]":
    if layer._expects_training_arg:
        return {"training": True}, {"training": False}
    return ({},)


def _made_up(leaf: Any) -> Any:
    """Rows of the same kind."""
    if not tf.is_tensor(leaf):
        return leaf
    shape = [ROWS, *(STEPS if size is None else size for size in leaf.shape[1:])]
    draw = numpy.random.default_rng(7)
    if leaf.dtype.is_floating:
        return tf.constant(draw.uniform(0.1, 1.0, shape), leaf.dtype)
    if leaf.dtype.is_integer or leaf.dtype.is_bool:
        return tf.constant(draw.integers(0, 2, shape), leaf.dtype)
    return tf.constant(draw.choice(["a", "b c"], shape), leaf.dtype)


def _same_by_parts(plain: Call, layer: Any, batch: Any, mode: "dict[str, bool]") -> bool:
    def outcome(rows: "list[int]") -> "list[Any]":
        args, kwargs = tf.nest.map_structure(
            lambda leaf: (
                tf.gather(leaf, rows)
                if tf.is_tensor(leaf) and not is_constant(layer, leaf)
                else leaf
            ),
            batch,
        )
        found = tf.nest.flatten(plain(layer, *args, **{**kwargs, **mode}))
        if not all(isinstance(one, tf.Tensor) and one.shape.rank for one in found):
            raise ValueError("no rows")
        return [one.numpy() for one in found]

    everything = outcome(list(range(ROWS)))
    return all(
        _alike([one[rows] for one in everything], outcome(rows))
        for rows in (list(range(ROWS)), *PARTS)
    )


def _alike(expected: "list[Any]", found: "list[Any]") -> bool:
    for one, other in zip(expected, found, strict=True):
        if one.shape != other.shape:
            return False
        if one.dtype.kind != "f":
            same = bool((one == other).all())
        else:
            near = TOLERANCE.get(str(one.dtype), 1e-2)
            same = numpy.allclose(one, other, rtol=near, atol=near * 0.1, equal_nan=True)
        if not same:
            return False
    return True
