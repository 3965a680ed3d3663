"""Looks whether all workers really compute with the same batches, and learn from the same losses.

Each keeps a running sum of what its networks were given, and of how losses pull at what came out.
Now and then the workers compare: a batch or a label that they do not share (random numbers of a
source without a seed, files that come in another order) ends the run with a message instead of
being trained on.
"""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.state import CREW

TOLERANCE_OF_FIGURES = 1e-5
"""What is computed alike may differ in the last digits, on a GPU; what is not differs by more."""

BITS = {
    tf.float64: tf.int64,
    tf.float32: tf.int32,
    tf.float16: tf.int16,
    tf.bfloat16: tf.int16,
    tf.complex64: tf.int64,
}


class Seen:
    """The running sums, made before the script makes variables."""

    def __init__(self) -> None:
        self.batches: Any = None
        self.labels: Any = None
        self.pulls: Any = None
        self.sizes: Any = None

    def begin(self) -> None:
        self.batches = tf.Variable(0, dtype=tf.int64, trainable=False, name="crew_batches")
        self.labels = tf.Variable(0, dtype=tf.int64, trainable=False, name="crew_labels")
        self.pulls = tf.Variable(0, dtype=tf.float64, trainable=False, name="crew_pulls")
        self.sizes = tf.Variable(0, dtype=tf.float64, trainable=False, name="crew_sizes")


SEEN = Seen()


def note_batch(batch: Any) -> None:
    """Adds a batch to what was seen; the place of each row and batch counts."""
    for leaf in tf.nest.flatten(batch):
        if tf.is_tensor(leaf):
            SEEN.batches.assign(SEEN.batches * 31 + digest(leaf))


def note_labels(labels: Any) -> None:
    """Adds what a loss is computed with, where its pull is not the same on every worker."""
    SEEN.labels.assign(SEEN.labels * 31 + digest(labels))


def digest(tensor: Any) -> Any:
    """A whole number that hangs on every figure and its row."""
    if tensor.dtype == tf.string:
        tensor = tf.strings.to_hash_bucket_fast(tensor, 2**40)
    elif tensor.dtype in BITS:
        tensor = tf.bitcast(tensor, BITS[tensor.dtype])
    if tensor.dtype not in (tf.int32, tf.int64):
        tensor = tf.cast(tensor, tf.int64)
    # In the bits that it has: sums run over, on every worker alike, and nothing is copied.
    rows = tf.reduce_sum(tf.reshape(tensor, [tf.shape(tensor)[0], -1]), 1)
    places = tf.range(1, tf.shape(rows)[0] + 1, dtype=tf.int64)
    return tf.reduce_sum(tf.cast(rows, tf.int64) * places)


def note_pull(gradient: Any) -> None:
    """Adds the gradient of the losses with respect to a network's outputs: all have the same."""
    wide = tf.cast(tf.reshape(gradient, [tf.shape(gradient)[0], -1]), tf.float64)
    places = tf.range(1, tf.shape(wide)[0] + 1, dtype=tf.float64)
    by_row = tf.reduce_sum(wide, 1) * places
    by_row = tf.where(tf.math.is_finite(by_row), by_row, places)  # the script may go on with those
    SEEN.pulls.assign_add(tf.reduce_sum(by_row))
    SEEN.sizes.assign_add(tf.reduce_sum(tf.abs(by_row)))


def compare_workers(figures: "tuple[float, ...]" = ()) -> None:
    """Ends the run where workers have parted; figures are those that all should have alike."""
    mine = (int(SEEN.batches), float(SEEN.pulls), float(SEEN.sizes), figures, int(SEEN.labels))
    first, *others = CREW.exchange.of_all(mine)
    for other in others:
        if other[0] != first[0]:
            raise SystemExit(
                "trainera: the workers were given different batches: the order or the content of "
                "the data hangs on something that each has for itself. Seed it (set_random_seed, "
                "a seed for default_rng or shuffle), and keep tf.data deterministic"
            )
        near = close_enough(first[1], other[1], first[2])
        near = near and first[4] == other[4]
        if not near or not all(map(close_enough, first[3], other[3])):
            raise SystemExit(
                "trainera: the workers compute different losses of the same batches: labels, "
                "weights of samples or the loss hang on something that each has for itself. Seed "
                "it, or take its order from a sorted list"
            )


def close_enough(one: float, other: float, size: float = 0.0) -> bool:
    """Whether they differ by rounding only; two that are no numbers are alike."""
    same_kind = (one != one) == (other != other)
    size = max(abs(one), abs(other), size)
    return same_kind and not abs(one - other) > TOLERANCE_OF_FIGURES * size
