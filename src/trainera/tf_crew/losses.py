"""Losses that every worker learns from by its own rows, and shows of the whole batch.

What a network gives is gathered before a loss is computed of it, and so the way back would wait
until all workers have come forth. For a mean or sum over rows, of which each has a loss of its own,
that is not needed: the gradient for this worker's rows hangs on nothing but these. So where Keras
itself computes one of its own losses to make a step, the figure is that of the whole batch, and the
gradient goes through the same loss of this worker's rows. The gathering is under way meanwhile.

Only Keras's own step is known not to ask for the gradient with respect to what was gathered.
Whatever is not known (own losses, steps and tapes, weights of samples, masks) is as ever.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from trainera.tf_crew.region import Region
from trainera.tf_crew.sameness import note_labels
from trainera.tf_crew.state import CREW

KNOWN_LOSSES = frozenset(
    """
    binary_crossentropy binary_focal_crossentropy categorical_crossentropy
    categorical_focal_crossentropy categorical_hinge cosine_similarity huber kl_divergence log_cosh
    mean_absolute_error mean_absolute_percentage_error mean_squared_error
    mean_squared_logarithmic_error poisson sparse_categorical_crossentropy
    """.split()
)
"""Of each row they make what they make of it in the whole batch. Hinge losses do not: they look
whether all labels of the batch are 0 or 1."""

SPARSE = "sparse_categorical_crossentropy"
"""Its labels may have a dimension less than what the network gives."""


class Outputs:
    """What the network that learns gave in this step: its rows, by the tensor of all rows."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.rows: dict[Any, tuple[Region, Any]] = {}

    def note(self, region: Region, mine: Any, whole: Any) -> None:
        """Takes down which rows the outputs were gathered from."""
        for own, leaf in zip(tf.nest.flatten(mine), tf.nest.flatten(whole), strict=True):
            if isinstance(leaf, tf.Tensor) and not region.is_alike(own):
                self.rows[leaf.ref()] = (region, own)


def connect_losses() -> None:
    """Has Keras's own step learn from this worker's rows, where its losses are known."""
    from keras.src.engine import compile_utils, training

    kind: Any = training.Model
    container: Any = compile_utils.LossesContainer
    plain_step, plain_loss, plain_losses = kind.train_step, kind.compute_loss, container.__call__

    def step(self: Any, data: Any) -> Any:
        own_loss = getattr(self.compute_loss, "__func__", None) is not plain_loss
        with learning(None if own_loss or tf.executing_eagerly() else Outputs(self)):
            return plain_step(self, data)

    def losses(self: Any, y_true: Any, y_pred: Any, *args: Any, **kwargs: Any) -> Any:
        """Once in a step; what is computed of the outputs later on may be a script's."""
        outputs, CREW.here.learning = CREW.here.learning, None
        if outputs is None or not outputs.rows or type(self) is not container:
            return plain_losses(self, y_true, y_pred, *args, **kwargs)
        if not self.built:
            self.build(y_pred)
        kept = self._losses
        self._losses = [one and Learned(one, outputs) for one in kept]
        try:
            return plain_losses(self, y_true, y_pred, *args, **kwargs)
        finally:
            self._losses = kept

    kind.train_step, container.__call__ = step, losses


@contextlib.contextmanager
def learning(outputs: "Outputs | None") -> Iterator[None]:
    """The time in which Keras makes a step with a network."""
    before, CREW.here.learning = CREW.here.learning, outputs
    try:
        yield
    finally:
        CREW.here.learning = before


class Learned:
    """A loss of a compiled network, for the time in which Keras computes it."""

    def __init__(self, loss: Any, outputs: Outputs) -> None:
        self.loss = loss
        self.reduction = loss.reduction
        self.outputs = outputs

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        whole = self.loss(y_true, y_pred, sample_weight=sample_weight)
        rows = self.outputs.rows.get(y_pred.ref()) if isinstance(y_pred, tf.Tensor) else None
        if rows is None or not goes_by_rows(self.loss, y_true, y_pred, sample_weight):
            return whole
        region, mine = rows
        note_labels(y_true)  # how they pull at the outputs is not to be seen by others
        return shown(tf.stop_gradient(whole), own_part(self.loss, region, y_true, mine))


def goes_by_rows(loss: Any, y_true: Any, y_pred: Any, sample_weight: Any = None) -> bool:
    """Whether a loss is known to be a mean or sum over what it makes of each row."""
    from keras.src import losses
    from keras.src.utils.losses_utils import ReductionV2

    if type(loss).__module__ != losses.__name__ or not hasattr(loss, "fn"):
        return False
    name = getattr(loss.fn, "__name__", "")
    return (
        name in KNOWN_LOSSES
        and loss.fn is getattr(losses, name)
        and loss.reduction != ReductionV2.NONE
        and sample_weight is None
        and not hasattr(y_pred, "_keras_mask")
        and along_last(loss._fn_kwargs, y_pred.shape.rank)
        and row_meets_row(name, y_true, y_pred)
    )


def along_last(settings: "dict[str, Any]", rank: "int | None") -> bool:
    """Whether a loss looks along the last dimension, and is set by nothing but numbers.

    `ignore_class` has a mean divide by what is left, which is a figure of the whole batch.
    """
    plain = all(one is None or isinstance(one, bool | int | float) for one in settings.values())
    axis = settings.get("axis", -1)
    return (
        plain
        and settings.get("ignore_class") is None
        and rank is not None
        and axis in (-1, rank - 1)
    )


def row_meets_row(name: str, y_true: Any, y_pred: Any) -> bool:
    """Whether dimensions meet their like, the rows for one, without being stretched to others."""
    if not isinstance(y_true, tf.Tensor) or y_pred.shape.rank < 2:
        return False
    missing = (0, 1) if name == SPARSE else (0,)
    return y_true.shape.rank is not None and y_pred.shape.rank - y_true.shape.rank in missing


def own_part(loss: Any, region: Region, y_true: Any, mine: Any) -> Any:
    """This worker's summand of a loss; nothing if it has no rows."""
    from keras.src.utils.losses_utils import ReductionV2, compute_weighted_loss

    parts = region.parts_of(tf.shape(mine)[0])
    message = "trainera: a batch has not as many labels as rows"
    check = tf.debugging.assert_equal(tf.shape(y_true)[0], region.rows * parts, message)
    with tf.control_dependencies([check] if check is not None else []):
        losses = loss.call(region.take(tf.identity(y_true)), mine)
    total = compute_weighted_loss(losses, reduction=ReductionV2.SUM)
    if loss._get_reduction() != ReductionV2.SUM:
        count = tf.size(losses) // region.taken * region.rows
        total = tf.math.divide_no_nan(total, tf.cast(count, total.dtype))
    return tf.where(region.own > 0, total, tf.zeros_like(total))


@tf.custom_gradient  # type: ignore[untyped-decorator]
def shown(whole: Any, own: Any) -> Any:
    """The figure of the whole batch, whose gradient is that of this worker's part."""
    return tf.identity(whole), lambda gradient: (tf.zeros_like(whole), gradient)
