"""Whether code of the script's own treats the rows of a batch one by one: found out by a trial.

It is given made-up rows: all of them, parts of them, the same in another order, and twice. If every
row comes out the same each time, training or not, rows are treated one by one. If it draws random
numbers, adds a loss, writes into a variable, or fails, it is not: then it is given whole batches,
which is right whatever it does.
"""

import contextlib
import io
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy
import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

from trainera.tf_crew.layers import may_be_tried
from trainera.tf_crew.state import CREW
from trainera.tf_crew.suspecting import Suspicion
from trainera.tf_crew.trial_chance import ROWS, Chance, OnTrial

STEPS = 5
"""For dimensions that the code leaves open, such as the length of a text."""
ALL = list(range(ROWS))
TWICE = [row for row in ALL for _ in range(2)]
PARTS = (ALL, [0, 1], [2, 3, 4, 5], ALL[::-1], TWICE)
TOLERANCE = {"float64": 1e-10, "float32": 1e-4}
PLAIN = (bool, int, float, str)

Call = Callable[..., Any]


class Trials:
    """What was found out so far: of each layer, by the kind of its input and its settings."""

    def __init__(self) -> None:
        self.by_rows: weakref.WeakKeyDictionary[Any, dict[str, bool]] = weakref.WeakKeyDictionary()
        self.layouts: weakref.WeakKeyDictionary[Any, dict[str, list[str]]] = (
            weakref.WeakKeyDictionary()
        )


TRIALS = Trials()


def is_constant(layer: Any, leaf: Any) -> bool:
    """Whether a tensor was written into the network where it calls a layer: it has no rows."""
    if not tf.is_tensor(leaf):
        return False
    return any(
        leaf is one
        for node in layer._inbound_nodes
        for one in tf.nest.flatten((node.call_args, node.call_kwargs))
    )


def proves_by_rows(plain: Call, layer: Any, batch: Any) -> bool:
    """Whether a layer or network treats rows one by one; tried once for each kind of input."""
    known = TRIALS.by_rows.setdefault(layer, {})
    key = _kind(layer, batch)
    if key not in known:
        known[key] = may_be_tried(layer) and bool(_trial(plain, layer, batch, _is_by_rows))
    return known[key]


def row_layout(plain: Call, layer: Any, batch: Any) -> "list[str] | None":
    """Of each output of a layer whether it has the batch's rows: "rows", "none" or "neither".

    None if made-up rows do not suit the layer.
    """
    known = TRIALS.layouts.setdefault(layer, {})
    key = _kind(layer, batch)
    if key not in known:
        known[key] = _trial(plain, layer, batch, _layout) or []
    return known[key] or None


def _kind(layer: Any, batch: Any) -> str:
    """What a trial hangs on: the kind of the input, and how the layer is set at present."""
    leaves = [
        (tuple(leaf.shape[1:]), leaf.dtype.name) if tf.is_tensor(leaf) else repr(leaf)
        for leaf in tf.nest.flatten(batch)
    ]
    settings = [
        (name, value)
        for one in layer._flatten_layers()
        for name, value in sorted(vars(one).items())
        if isinstance(value, PLAIN) and not name.startswith("_")
    ]
    return repr((leaves, settings))


def _trial(plain: Call, layer: Any, batch: Any, judge: Call) -> Any:
    """What a judge says of a layer, which is left as it was."""
    with tf.init_scope(), _no_part_of_the_run(), _nothing_kept(layer) as kept:
        try:
            made_up = tf.nest.map_structure(
                lambda leaf: leaf if is_constant(layer, leaf) else _made_up(leaf), batch
            )
            _first_call(plain, layer, batch)
            kept.move()
            return judge(plain, layer, made_up, kept)
        except Exception:  # whatever it is: code of the script's own that made-up rows do not suit
            return None


def _first_call(plain: Call, layer: Any, batch: Any) -> None:
    """Calls a layer as the run is about to: it makes its weights, if it has none.

    What it writes down of its input, such as the shape, has to be what the run itself would leave.
    """

    def as_given(leaf: Any) -> Any:
        if not tf.is_tensor(leaf) or is_constant(layer, leaf):
            return leaf
        if tf.executing_eagerly():
            return _made_up(leaf, leaf.shape)
        return tf.compat.v1.placeholder(leaf.dtype, leaf.shape)

    at_once = all(map(is_value, filter(tf.is_tensor, tf.nest.flatten(batch))))
    with contextlib.nullcontext() if at_once else FuncGraph("trial").as_default(), _trying(None):
        args, kwargs = tf.nest.map_structure(as_given, batch)
        plain(layer, *args, **kwargs)


def is_value(tensor: Any) -> bool:
    """Whether a tensor is computed at once, and not when a compiled function runs."""
    return hasattr(tensor, "numpy")


def _is_by_rows(plain: Call, layer: Any, batch: Any, kept: "Kept") -> bool:
    with Suspicion() as suspicion:
        good = all(_same_by_parts(plain, layer, batch, mode) for mode in _modes(layer))
    quiet = not any(one._losses or one._eager_losses for one in layer._flatten_layers())
    return good and quiet and not suspicion.found and not kept.was_changed()


def _layout(plain: Call, layer: Any, batch: Any, kept: "Kept") -> "list[str]":
    once, twice = (_outcome(plain, layer, batch, {}, rows) for rows in (ALL, TWICE))
    found = []
    for one, other in zip(once, twice, strict=True):
        if not one.shape or one.shape == other.shape:
            found.append("none")
        elif one.shape[0] % ROWS == 0 and other.shape[0] == 2 * one.shape[0]:
            found.append("rows")
        else:
            found.append("neither")
    return found


def value_now(variable: Any) -> Any:
    """What a variable holds, wherever in the making of a graph that is asked."""
    with tf.init_scope():
        return tf.identity(variable)


class Kept:
    """The variables of a layer, those that existed and those that a trial makes or draws from."""

    def __init__(self, layer: Any) -> None:
        owned = [*layer.variables, *_of_metrics(layer)] if layer.built else [*_of_metrics(layer)]
        kept = (one for one in owned if isinstance(one, tf.Variable))  # vocabularies are no values
        self.values = [(variable, tf.identity(variable)) for variable in kept]
        self.states: list[tuple[Any, Any]] = []
        self.moved: list[Any] = []

    def make(self, next_creator: Call, **options: Any) -> Any:
        """Notes a variable that is made."""
        variable = next_creator(**options)
        self.values.append((variable, value_now(variable)))
        return variable

    @contextlib.contextmanager
    def states_of_generators(self) -> Iterator[None]:
        """Notes the state of each generator before it is drawn from; no list of them exists."""
        from tensorflow.python.ops.stateful_random_ops import Generator

        plain = Generator.state
        known: set[int] = set()

        def state(generator: Any) -> Any:
            variable = plain.fget(generator)
            if id(variable) not in known:
                known.add(id(variable))
                self.states.append((variable, value_now(variable)))
            return variable

        Generator.state = property(state)
        try:
            yield
        finally:
            Generator.state = plain

    def put_back(self) -> None:
        for variable, value in (*self.values, *self.states):
            variable.assign(value)

    def move(self) -> None:
        """Has weights be other than nought or one, so that nothing is hidden by a factor."""
        draw = numpy.random.default_rng(11)
        for variable, value in self.values:
            if variable.dtype.is_floating:
                variable.assign(
                    value + tf.constant(draw.uniform(0.1, 0.5, value.shape), value.dtype)
                )
        self.moved = [tf.identity(variable) for variable, _ in self.values]

    def was_changed(self) -> bool:
        pairs = zip(self.values, self.moved, strict=True)
        return not all(bool(tf.reduce_all(variable == value)) for (variable, _), value in pairs)


@contextlib.contextmanager
def _nothing_kept(layer: Any) -> "Iterator[Kept]":
    """The time in which a layer may be changed: everything is put back."""
    kept = Kept(layer)
    losses = [(one, [*one._losses], [*one._eager_losses]) for one in layer._flatten_layers()]
    try:
        with tf.variable_creator_scope(kept.make), kept.states_of_generators():
            layer._clear_losses()
            yield kept
    finally:
        kept.put_back()
        layer._clear_losses()
        for one, added, at_once in losses:  # the run may have been about to use them
            one._losses[:], one._eager_losses = added, at_once


def _of_metrics(layer: Any) -> "Iterator[Any]":
    for one in layer._flatten_layers():
        for metric in one._metrics:
            yield from metric.variables


@contextlib.contextmanager
def _no_part_of_the_run() -> Iterator[None]:
    """Nothing is heard of it, and random numbers go on where they were."""
    chance = Chance()
    region, CREW.here.region = CREW.here.region, None
    chance.swap()
    CREW.here.building = chance
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        CREW.here.building = None
        chance.swap()
        CREW.here.region = region


@contextlib.contextmanager
def _trying(rows: "list[int] | None") -> Iterator[None]:
    """The time in which a layer is given these of the made-up rows; None: any."""
    CREW.here.trying = OnTrial(rows)
    try:
        yield
    finally:
        CREW.here.trying = None


def _modes(layer: Any) -> "tuple[dict[str, bool], ...]":
    if layer._expects_training_arg:
        return {"training": True}, {"training": False}
    return ({},)


def _made_up(leaf: Any, sizes: Any = None) -> Any:
    """Rows of the same kind; as many as `sizes` says, else those of a trial."""
    if not tf.is_tensor(leaf):
        return leaf
    shape = sizes or [ROWS, *(STEPS if size is None else size for size in leaf.shape[1:])]
    draw = numpy.random.default_rng(7)
    if leaf.dtype.is_floating:
        return tf.constant(draw.uniform(0.1, 1.0, shape), leaf.dtype)
    if leaf.dtype.is_integer or leaf.dtype.is_bool:
        return tf.constant(draw.integers(0, 2, shape), leaf.dtype)
    return tf.constant(draw.choice(["a", "b c"], shape), leaf.dtype)


def _outcome(
    plain: Call, layer: Any, batch: Any, mode: "dict[str, bool]", rows: "list[int]"
) -> "list[Any]":
    """What a layer makes of some of the rows."""
    args, kwargs = tf.nest.map_structure(
        lambda leaf: (
            tf.gather(leaf, rows) if tf.is_tensor(leaf) and not is_constant(layer, leaf) else leaf
        ),
        batch,
    )
    with _trying(rows):
        return [one.numpy() for one in tf.nest.flatten(plain(layer, *args, **{**kwargs, **mode}))]


def _same_by_parts(plain: Call, layer: Any, batch: Any, mode: "dict[str, bool]") -> bool:
    everything = _outcome(plain, layer, batch, mode, ALL)
    return all(one.shape and len(one) == ROWS for one in everything) and all(
        _alike([one[rows] for one in everything], _outcome(plain, layer, batch, mode, rows))
        for rows in PARTS
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
