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
from trainera.tf_crew.state import CREW
from trainera.tf_crew.suspecting import Suspicion

ROWS = 6
SEED = 1801439851
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
            with _trying(ALL):
                plain(layer, *made_up[0], **made_up[1])  # makes its weights, if it has none
            kept.move()
            return judge(plain, layer, made_up, kept)
        except Exception:  # whatever it is: code of the script's own that made-up rows do not suit
            return None


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


class Kept:
    """The variables of a layer, those that existed and those that a trial makes or draws from."""

    def __init__(self, layer: Any) -> None:
        owned = [*layer.variables, *_of_metrics(layer)] if layer.built else [*_of_metrics(layer)]
        self.values = [(variable, tf.identity(variable)) for variable in owned]
        self.states: list[tuple[Any, Any]] = []
        self.moved: list[Any] = []

    def make(self, next_creator: Call, **options: Any) -> Any:
        """Notes a variable that is made."""
        variable = next_creator(**options)
        self.values.append((variable, tf.identity(variable)))
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
                self.states.append((variable, tf.identity(variable)))
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
    try:
        with tf.variable_creator_scope(kept.make), kept.states_of_generators():
            yield kept
    finally:
        kept.put_back()
        layer._clear_losses()


def _of_metrics(layer: Any) -> "Iterator[Any]":
    for one in layer._flatten_layers():
        for metric in one._metrics:
            yield from metric.variables


@contextlib.contextmanager
def _no_part_of_the_run() -> Iterator[None]:
    """Nothing is heard of it, and random numbers go on where they were.

    Operations that draw keep a state of their own for each seed, which cannot be put back: on
    trial they are given another one.
    """
    from tensorflow.python.eager import context

    settings = context.context()
    generator, seed = settings._rng, settings._seed
    states = random.getstate(), numpy.random.get_state()
    own = None if generator is None else generator.getstate()
    settings._seed = SEED
    region, CREW.here.region = CREW.here.region, None
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        CREW.here.region = region
        settings._seed = seed
        random.setstate(states[0])
        numpy.random.set_state(states[1])
        if generator is not None:
            generator.setstate(own)


@contextlib.contextmanager
def _trying(rows: "list[int]") -> Iterator[None]:
    """The time in which a layer is given these of the made-up rows."""
    CREW.here.trying = OnTrial(rows)
    try:
        yield
    finally:
        CREW.here.trying = None


class OnTrial:
    """The rows that a layer is given, and what it is given in place of random numbers.

    These hang on the row that they are for, if each row of the batch has its place among the rows
    that are drawn for; if it has another one, the trial comes out differently.
    """

    def __init__(self, rows: "list[int]") -> None:
        self.rows = rows
        self.draws = 0

    def check(self, count: Any) -> int:
        """How many of so many rows belong to one of the batch's."""
        parts, rest = divmod(int(count), len(self.rows))
        if rest or not parts:
            raise ValueError("these are not the rows of the batch")
        return parts

    def drawn(self, shape: Any, dtype: Any) -> Any:
        """Numbers between 0 and 1, the same for a row whatever others there are."""
        sizes = [int(size) for size in tf.convert_to_tensor(shape).numpy()]
        parts = self.check(sizes[0])
        self.draws += 1
        numbers = numpy.random.default_rng([self.draws, *sizes[1:]])
        pattern = numbers.uniform(0.2, 0.9, [ROWS * parts, *sizes[1:]])
        chosen = [row * parts + part for row in self.rows for part in range(parts)]
        return tf.constant(pattern[chosen], dtype)


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
