"""What workers send each other, by Horovod: sums and rows of tensors, and the first one's word."""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.state import CREW

SMALL = (tf.bool, tf.int8, tf.uint8, tf.int16, tf.uint16)
"""Types that do not travel everywhere; all of them fit into 32 bits."""


class HorovodExchange:
    """Sums and rows by Horovod's operations, inside of compiled functions as outside."""

    def __init__(self, hvd: Any) -> None:
        self.hvd = hvd
        self.made = 0

    def name(self, what: str) -> str:
        """The name by which workers know that they mean the same tensor.

        Operations of a graph are made once, by all in one order, and may run at the same time.
        What is computed at once runs alone.
        """
        if tf.executing_eagerly():
            return f"crew.{what}"
        self.made += 1
        return f"crew.{what}.{self.made}"

    def add_up(self, part: Any) -> Any:
        """The sum over all workers."""
        CREW.require_all("a sum over the workers")
        return self.hvd.allreduce(part, op=self.hvd.Sum, name=self.name("sum"))

    def gather(self, rows: Any, counts: Any) -> Any:
        """The rows of all workers, one worker's behind the other's; Horovod counts them itself."""
        CREW.require_all("what all workers have")
        if rows.dtype in SMALL:
            whole = self.hvd.allgather(tf.cast(rows, tf.int32), name=self.name("rows"))
            return tf.cast(whole, rows.dtype)
        return self.hvd.allgather(rows, name=self.name("rows"))

    def told_by_first(self, value: Any) -> Any:
        """The first worker's value, on every worker."""
        CREW.require_all("the first worker's word")
        with tf.init_scope():
            return self.hvd.broadcast_object(value, root_rank=0, name="crew.word")

    def of_all(self, value: Any) -> Any:
        """The values of all workers, in their order."""
        CREW.require_all("a word of each worker")
        with tf.init_scope():
            return self.hvd.allgather_object(value, name="crew.words")

    def leave(self) -> None:
        """Takes leave of the others."""
        self.hvd.shutdown()


def gather_texts(rows: Any, counts: Any) -> Any:
    """The texts of all workers, which travel as the bytes that TensorFlow writes them in."""
    sent = tf.io.decode_raw(tf.io.serialize_tensor(rows), tf.uint8)
    lengths = CREW.exchange.gather(tf.shape(sent), tf.ones([CREW.size], tf.int32))
    letters = tf.constant([bytes([code]) for code in range(256)])
    parts = tf.split(CREW.exchange.gather(sent, lengths), lengths, num=CREW.size)
    texts = [tf.strings.reduce_join(tf.gather(letters, tf.cast(one, tf.int32))) for one in parts]
    return tf.concat([tf.io.parse_tensor(one, tf.string) for one in texts], 0)
