"""A batch for every worker: steps take several of the script's batches, and may be longer.

`fit` joins as many batches as there are workers, one after the other, whatever they come from. What
a script evaluates and predicts with stays as it is. What is learned is no longer what the
sequential script learns, which is why somebody has to ask for it.
"""

import math
import weakref
from typing import Any

import tensorflow as tf

from trainera.tf_crew.state import CREW

ALL_ROWS = 2**31 - 1
"""More than any step has."""


class Growth:
    """How rates grow, and when; one object instead of globals, so that it can be bundled."""

    def __init__(self) -> None:
        self.goal = 1.0
        self.warmup = 0.0
        # The optimizer that is making a step; None between steps.
        self.stepping: Any = None
        # By optimizer: at which of its steps training began, and how many steps an epoch has.
        self.spans: Any = weakref.WeakKeyDictionary()
        # The latter of the latest `fit`; None if that is not known before an epoch has ended.
        self.steps: int | None = None

    def factor(self, optimizer: Any, dtype: Any) -> Any:
        """What the rate of this step is multiplied by: 1 at the first, in the end the goal."""
        if not self.warmup or self.goal == 1.0:
            return tf.constant(self.goal, dtype)
        began, length = self.span(optimizer)
        epochs = tf.cast(optimizer.iterations - began, tf.float64) / tf.cast(length, tf.float64)
        grown = 1 + (self.goal - 1) * tf.minimum(tf.constant(1, tf.float64), epochs / self.warmup)
        return tf.cast(grown, dtype)

    def span(self, optimizer: Any) -> "list[Any]":
        """Variables, because a compiled step may serve several `fit`s."""
        if optimizer not in self.spans:
            if self.steps is None:
                raise SystemExit(
                    "trainera: --warmup counts epochs, and how many steps one has is not known "
                    "before it has ended: give fit() steps_per_epoch, or leave out --warmup"
                )
            with tf.init_scope():
                numbers = (int(optimizer.iterations), self.steps)
                self.spans[optimizer] = [
                    tf.Variable(one, dtype=tf.int64, trainable=False) for one in numbers
                ]
        found: list[Any] = self.spans[optimizer]
        return found


GROWTH = Growth()
"""What the script was converted with."""


def grow_batches(lr: str = "keep", warmup: float = 0.0) -> None:
    """Has `fit` give every worker a batch of the script's size; learning rates may follow.

    `lr` is "linear" (times N), "sqrt" (times the root of N) or "keep"; over the first `warmup`
    epochs the factor grows from 1 to that, step by step.
    """
    if CREW.size == 1:
        return
    GROWTH.goal = {"linear": float(CREW.size), "sqrt": math.sqrt(CREW.size)}.get(lr, 1.0)
    GROWTH.warmup = warmup
    connect_fit()
    if GROWTH.goal != 1.0:
        connect_rates()


def connect_fit() -> None:
    """Has `fit` take several batches a step."""
    from keras.src.engine import data_adapter

    plain = data_adapter.get_data_handler

    class Grown(data_adapter.DataHandler):  # type: ignore[misc]
        """Gives batches joined, within an epoch; the last of an epoch may be of fewer."""

        def _infer_steps(self, steps: Any, dataset: Any) -> Any:
            self.taken = super()._infer_steps(steps, dataset)
            return None if self.taken is None else -(-self.taken // CREW.size)

        def _configure_dataset_and_inferred_steps(self, *args: Any, **kwargs: Any) -> None:
            super()._configure_dataset_and_inferred_steps(*args, **kwargs)
            self._dataset: Any = joined_batches(self._dataset, self.taken)
            GROWTH.steps = self._inferred_steps

    def make(*args: Any, **kwargs: Any) -> Any:
        training = "shuffle" in kwargs  # which nobody else says anything of
        return Grown(*args, **kwargs) if training else plain(*args, **kwargs)

    data_adapter.get_data_handler = make


def joined_batches(batches: Any, an_epoch: "int | None") -> Any:
    """A stream of batches, of which as many as there are workers are joined.

    A stream may go on from epoch to epoch: none is joined with one of the next.
    """
    group, size = CREW.size, tf.constant(an_epoch or 0, tf.int64)
    groups = -(-size // group)

    def key(number: Any, *batch: Any) -> Any:
        if an_epoch is None:
            return number // group
        return number // size * groups + number % size // group

    def count(number: Any) -> Any:
        if an_epoch is None:
            return tf.constant(group, tf.int64)
        return tf.minimum(tf.constant(group, tf.int64), size - number % groups * group)

    def join(number: Any, several: Any) -> Any:
        alone = several.map(lambda number, *batch: batch if len(batch) > 1 else batch[0])
        return alone.unbatch().batch(ALL_ROWS)

    numbered = batches.enumerate()
    if isinstance(batches.element_spec, tuple):
        numbered = numbered.map(lambda number, batch: (number, *batch))
    whole = numbered.group_by_window(key, join, window_size_func=count)
    if isinstance(batches.element_spec, tuple) and len(batches.element_spec) == 1:
        whole = whole.map(lambda batch: (batch,))
    return whole.prefetch(tf.data.AUTOTUNE)


def connect_rates() -> None:
    """Has optimizers take longer steps; what the script reads and sets are its own rates."""
    from keras.src.optimizers import optimizer as module
    from keras.src.optimizers.legacy import optimizer_v2

    kind: Any = module._BaseOptimizer
    plain = kind.learning_rate

    def read(self: Any) -> Any:
        rate = plain.fget(self)
        if GROWTH.stepping is not self:
            return rate
        return rate * GROWTH.factor(self, rate.dtype)

    def stepping(original: Any) -> Any:
        def step(self: Any, *args: Any, **kwargs: Any) -> Any:
            before, GROWTH.stepping = GROWTH.stepping, self
            try:
                return original(self, *args, **kwargs)
            finally:
                GROWTH.stepping = before

        return step

    kind.learning_rate = property(read, plain.fset)
    for owner in (kind, module.Optimizer):
        for name in ("_apply_weight_decay", "_internal_apply_gradients"):
            if name in vars(owner):
                setattr(owner, name, stepping(vars(owner)[name]))

    def refused(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise SystemExit(
            f"trainera: the learning rate of {type(self).__module__}.{type(self).__name__} cannot "
            "grow with the batch: take it from tf.keras.optimizers, or leave out --lr"
        )

    optimizer_v2.OptimizerV2.apply_gradients = refused
