"""Looks whether all workers really compute with the same batches, and have the same weights.

Each keeps a running sum of what its networks were given. Now and then the workers compare it: a
batch that they do not share (random numbers of a source without a seed, files that come in another
order) ends the run with a message instead of being trained on.
"""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.state import CREW


class Seen:
    """The running sum, made when it is first needed."""

    def __init__(self) -> None:
        self.total: Any = None

    def variable(self) -> Any:
        if self.total is None:
            with tf.init_scope():
                self.total = tf.Variable(0, dtype=tf.int64, trainable=False, name="crew_seen")
        return self.total


SEEN = Seen()


def note_batch(batch: Any) -> None:
    """Adds a batch to what was seen; the place of each row and batch counts."""
    total = SEEN.variable()
    for leaf in tf.nest.flatten(batch):
        if tf.is_tensor(leaf) and (leaf.dtype.is_floating or leaf.dtype.is_integer):
            total.assign(total * 31 + _digest(leaf))


def _digest(tensor: Any) -> Any:
    """A whole number that hangs on every figure and its row."""
    if tensor.dtype.is_floating:
        wide = tf.cast(tensor, tf.float64)
        tensor = tf.bitcast(wide, tf.int64)
    rows = tf.reshape(tf.cast(tensor, tf.int64), [tf.shape(tensor)[0], -1])
    places = tf.range(1, tf.shape(rows)[0] + 1, dtype=tf.int64)
    return tf.reduce_sum(tf.reduce_sum(rows, 1) * places)


def compare_workers(weights: "list[Any]") -> None:
    """Ends the run where workers have parted."""
    seen = int(SEEN.variable().numpy())
    sums = [float(tf.reduce_sum(tf.cast(one, tf.float64))) for one in weights]
    found = CREW.exchange.of_all((seen, repr(sums)))
    if any(one[0] != found[0][0] for one in found):
        raise SystemExit(
            "trainera: the workers were given different batches: the order or the content of the "
            "data hangs on something that each has for itself. Seed it (set_random_seed, a seed "
            "for default_rng or shuffle), and keep tf.data deterministic"
        )
    if any(one[1] != found[0][1] for one in found):
        raise SystemExit(
            "trainera: the workers' weights have parted, though their batches are the same: "
            "something that the script computes hangs on the worker. Please report it"
        )
