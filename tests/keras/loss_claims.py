"""Every claim of the runtime about a loss of tf.keras 2, tried on the loss itself.

Workers are played one after the other: what each learns from its rows, put together, has to be what
is learned from the whole batch. Run in the environment of tf.keras 2 by `test_losses_keras2.py`;
prints what is wrong or was not tried, as JSON.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf
from keras.src import losses as keras_losses
from tensorflow.keras import losses as L

from trainera.tf_crew.losses import KNOWN_LOSSES, Learned, Outputs, goes_by_rows
from trainera.tf_crew.region import Region
from trainera.tf_crew.sameness import SEEN
from trainera.tf_crew.state import CREW

WORKERS = 3
SIZES = (7, 2)
"""Rows: unequal parts, and a worker without any."""

tf.keras.backend.set_floatx("float64")
draw = np.random.default_rng(5)
SUM = L.Reduction.SUM


def figures(*shape: int) -> Callable[[int], np.ndarray]:
    return lambda rows: draw.uniform(0.1, 0.9, (rows, *shape))


def shares(*shape: int) -> Callable[[int], np.ndarray]:
    """Each row adds up to one."""

    def make(rows: int) -> np.ndarray:
        found = draw.uniform(0.1, 0.9, (rows, *shape))
        return found / found.sum(-1, keepdims=True)

    return make


def classes(*shape: int, count: int = 4) -> Callable[[int], np.ndarray]:
    return lambda rows: draw.integers(0, count, (rows, *shape))


def one_hot(*shape: int) -> Callable[[int], np.ndarray]:
    return lambda rows: np.eye(shape[-1])[draw.integers(0, shape[-1], (rows, *shape[:-1]))]


def both(name: str, labels: Any, given: Any, **settings: Any) -> list[tuple[str, Any, Any, Any]]:
    """As a mean and as a sum."""
    return [case(name, labels, given, **settings, reduction=one) for one in (SUM, L.Reduction.AUTO)]


def case(name: str, labels: Any, given: Any, **settings: Any) -> tuple[str, Any, Any, Any]:
    return f"{name} {settings}", lambda: getattr(L, name)(**settings), labels, given


SAMPLES = [
    *both("MeanSquaredError", figures(5, 3), figures(5, 3)),
    *both("MeanSquaredError", figures(1), figures(1)),
    *(
        case(name, figures(*shape), figures(*shape))
        for name in (
            *("MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError"),
            *("LogCosh", "Poisson", "KLDivergence", "CosineSimilarity", "Huber"),
            *("BinaryCrossentropy", "BinaryFocalCrossentropy"),
        )
        for shape in ((3,), (5, 3))
    ),
    case("CosineSimilarity", figures(3, 2), figures(3, 2), axis=2),
    case("Huber", figures(3), figures(3), delta=0.2),
    case("BinaryCrossentropy", classes(3, count=2), figures(3), label_smoothing=0.1),
    case("BinaryCrossentropy", classes(1, count=2), figures(1), from_logits=True),
    case("BinaryFocalCrossentropy", classes(1, count=2), figures(1), apply_class_balancing=True),
    case("CategoricalHinge", one_hot(4), figures(4)),
    *(
        case(name, one_hot(*shape), shares(*shape), **settings)
        for name in ("CategoricalCrossentropy", "CategoricalFocalCrossentropy")
        for shape, settings in (((3, 4), {"label_smoothing": 0.1}), ((4,), {"from_logits": True}))
    ),
    *both("SparseCategoricalCrossentropy", classes(1), shares(4)),
    case("SparseCategoricalCrossentropy", classes(3), shares(3, 4), from_logits=True),
    case("SparseCategoricalCrossentropy", classes(3, 1), shares(3, 4)),
]
"""What, a loss, labels and outputs for so many rows."""


def of_mean(y_true: Any, y_pred: Any) -> Any:
    return tf.reduce_mean(tf.square(y_true - y_pred)) + 0 * y_pred[:, 0]


class Derived(L.MeanSquaredError):
    def call(self, y_true: Any, y_pred: Any) -> Any:
        return super().call(y_true, y_pred) - tf.reduce_mean(y_pred)


def masked(rows: int) -> Any:
    found = tf.constant(figures(3)(rows))
    found._keras_mask = tf.ones(rows, tf.bool)
    return found


MIXING = {
    "Hinge": (L.Hinge, classes(3, count=2), figures(3), None),
    "SquaredHinge": (L.SquaredHinge, classes(3, count=2), figures(3), None),
    "cosine along the batch": (
        lambda: L.CosineSimilarity(axis=0),
        *(figures(3), figures(3), None),
    ),
    "cosine along the batch, from the end": (
        lambda: L.CosineSimilarity(axis=-2),
        *(figures(3), figures(3), None),
    ),
    "ignored class": (
        lambda: L.SparseCategoricalCrossentropy(ignore_class=0),
        *(classes(), shares(4), None),
    ),
    "no reduction": (
        lambda: L.MeanSquaredError(reduction=L.Reduction.NONE),
        *(figures(3), figures(3), None),
    ),
    "weights by class and row": (
        lambda: L.CategoricalFocalCrossentropy(alpha=[[0.1] * 4] * 8),
        *(one_hot(4), shares(4), None),
    ),
    "own function": (
        lambda: keras_losses.LossFunctionWrapper(of_mean),
        figures(3),
        figures(3),
        None,
    ),
    "own class": (Derived, figures(3), figures(3), None),
    "weights of samples": (L.MeanSquaredError, figures(3), figures(3), figures()),
    "masked": (L.MeanSquaredError, figures(3), masked, None),
    "one dimension": (L.MeanSquaredError, figures(), figures(), None),
    "rows stretched": (L.MeanSquaredError, figures(8, 3), figures(3), None),
    "steps stretched": (L.MeanSquaredError, figures(8), figures(8, 1), None),
}
"""The same, and weights: none of these may be taken as row by row."""


def learned(loss: Any, y_true: Any, y_pred: Any, rank: int) -> Any:
    """A worker's figure, and the gradient for its rows: nothing in the others."""
    CREW.rank = rank
    region, outputs = Region(tf.shape(y_pred)[0]), Outputs(None)
    mine = tf.identity(region.take(y_pred))
    outputs.rows[y_pred.ref()] = region, mine
    figure = 3 * Learned(loss, outputs)(y_true, y_pred)
    (gradient,) = tf.gradients(figure, [mine])
    if tf.gradients(figure, [y_pred], stop_gradients=[mine]) != [None]:
        raise SystemExit("the gradient goes through what was gathered, too")
    before = tf.zeros([region.begin, *gradient.shape[1:]], gradient.dtype)
    after = tf.shape(y_pred)[0] - region.begin - region.taken
    rest = tf.zeros([after, *gradient.shape[1:]], gradient.dtype)
    return figure, tf.concat([before, gradient, rest], 0)


def wrong(what: str, make: Any, labels: Any, give: Any) -> str | None:
    loss = make()

    @tf.function
    def compute(y_true: Any, y_pred: Any) -> Any:
        if not goes_by_rows(loss, y_true, y_pred):
            return None
        expected = 3 * loss(y_true, y_pred)
        parts = [learned(loss, y_true, y_pred, rank) for rank in range(WORKERS)]
        return expected, tf.gradients(expected, [y_pred])[0], parts

    kinds = [tf.TensorSpec([None, *one.shape[1:]], one.dtype) for one in (labels(1), give(1))]
    call = compute.get_concrete_function(*kinds)
    for rows in SIZES:
        found = call(tf.constant(labels(rows)), tf.constant(give(rows)))
        if found is None:
            return f"{what}: not taken as row by row"
        expected, gradient, parts = found
        if any(float(figure) != float(expected) for figure, _ in parts):
            return f"{what}: {rows} rows: another figure"
        together = sum(part.numpy() for _, part in parts)
        if not np.allclose(together, gradient, rtol=1e-9, atol=1e-12):
            return f"{what}: {rows} rows: another gradient"
    return None


CREW.size = WORKERS
SEEN.begin()
tried = {make().fn.__name__ for _, make, *_ in SAMPLES}
problems = [f"{name}: not tried" for name in sorted(KNOWN_LOSSES - tried)]
problems += [
    f"{name}: no loss of Keras's" for name in KNOWN_LOSSES if not hasattr(keras_losses, name)
]
problems += filter(None, (wrong(*one) for one in SAMPLES))
for what, (make, labels, give, weigh) in MIXING.items():
    y_true, y_pred = tf.constant(labels(8)), tf.convert_to_tensor(give(8))
    if goes_by_rows(make(), y_true, y_pred, weigh and tf.constant(weigh(8))):
        problems.append(f"{what}: taken as row by row")
json.dump({"tried": len(SAMPLES), "problems": problems}, sys.stdout)
