"""The same by TensorFlow's own collective operations, among the workers of a strategy."""

import base64
import pickle
from typing import Any

import tensorflow as tf

from trainera.tf_crew.exchange import SMALL
from trainera.tf_crew.state import CREW

GROUP = 77001
"""The number by which these operations know each other; the strategy's own begin at 1."""
MOST_ROWS = 2**15
"""More than one worker has of a batch; else operations may meet that were not meant to."""


class StrategyExchange:
    """Sums and rows by collective operations, words by the store of the cluster's leader."""

    def __init__(self) -> None:
        self.made = 0
        self.words = 0
        self.kinds: dict[Any, int] = {}

    def key(self, what: str, sent: Any, rows: Any = 0) -> Any:
        """The number of an operation: all workers make theirs in the same order.

        TensorFlow wants a number of its own for each shape that is sent. In a graph the number of
        rows is known when it runs. What runs at once does so one after the other, so that a number
        for each kind will do.
        """
        if tf.executing_eagerly():
            kind = (what, tuple(sent.shape), sent.dtype)
            return self.kinds.setdefault(kind, len(self.kinds) + 1)
        self.made += 1
        return -(self.made * MOST_ROWS + rows % MOST_ROWS)

    def add_up(self, part: Any) -> Any:
        """The sum over all workers."""
        CREW.require_all("a sum over the workers")
        whole = tf.raw_ops.CollectiveReduceV2(
            input=part,
            group_size=CREW.size,
            group_key=GROUP,
            instance_key=self.key("sum", part),
            ordering_token=[],
            merge_op="Add",
            final_op="Id",
        )
        whole.set_shape(part.shape)
        return whole

    def gather(self, rows: Any, counts: Any) -> Any:
        """The rows of all workers, of which each has as many as `counts` says.

        What is sent has to be of one shape: the shorter ones are filled up.
        """
        CREW.require_all("what all workers have")
        sent = tf.cast(rows, tf.int32) if rows.dtype in SMALL else rows
        most = tf.reduce_max(counts)
        missing = most - tf.shape(rows)[0]
        nothing = tf.zeros(tf.concat([missing[None], tf.shape(rows)[1:]], 0), sent.dtype)
        sent = tf.concat([sent, nothing], 0)
        whole = tf.raw_ops.CollectiveGatherV2(
            input=sent,
            group_size=CREW.size,
            group_key=GROUP,
            instance_key=self.key("rows", sent, most),
            ordering_token=[],
        )
        places = tf.range(CREW.size * most)
        real = tf.boolean_mask(places, places % most < tf.repeat(counts, most))
        return tf.cast(tf.gather(whole, real), rows.dtype)

    def told_by_first(self, value: Any) -> Any:
        """The first worker's value, on every worker."""
        CREW.require_all("the first worker's word")
        self.words += 1
        if CREW.rank == 0:
            say(f"word/{self.words}", value)
            return value
        return heard(f"word/{self.words}")

    def of_all(self, value: Any) -> Any:
        """The values of all workers, in their order."""
        CREW.require_all("a word of each worker")
        self.words += 1
        say(f"word/{self.words}/{CREW.rank}", value)
        return [heard(f"word/{self.words}/{rank}") for rank in range(CREW.size)]

    def leave(self) -> None:
        """Waits until nobody needs this worker any more: others may still fetch what it sent.

        The leader keeps the store, so it leaves last.
        """
        self.of_all("done")
        if CREW.rank > 0:
            say(f"left/{CREW.rank}", True)
        else:
            for rank in range(1, CREW.size):
                heard(f"left/{rank}")


def say(key: str, value: Any) -> None:
    """Puts a value into the store."""
    text = base64.b64encode(pickle.dumps(value)).decode()
    store().set_config_key_value(f"crew/{key}", text)


def heard(key: str) -> Any:
    """A value that this or another worker of the crew put there; waits for it."""
    return pickle.loads(base64.b64decode(store().get_config_key_value(f"crew/{key}")))


def store() -> Any:
    from tensorflow.python.eager import context

    return context.context()
