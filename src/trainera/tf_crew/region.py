"""The rows of a worker, and how tensors pass between all rows and its own.

Outside of networks everything is the same on every worker; inside each has its rows. Four linear
maps lead from one to the other, and each is the gradient of another one of them:

| map | from | to | its gradient |
|---|---|---|---|
| `take` | the whole batch | my rows | `gather` |
| `gather` | my rows | the whole batch | `take` |
| `enter` | what all have alike | the same, for use with my rows | `add_up` |
| `add_up` | my summand | the sum | `enter` |

So a gradient outside is the whole batch's on every worker, however often it is differentiated.
"""

from typing import Any

import tensorflow as tf

from trainera.tf_crew.exchange import gather_texts
from trainera.tf_crew.sameness import note_pull
from trainera.tf_crew.state import CREW


class Region:
    """This worker's rows of a batch, while a network computes them.

    A worker that has none takes a row of others along: its results count nothing.
    """

    def __init__(self, rows: Any) -> None:
        if not tf.executing_eagerly():
            # Also where the number is known: else shares would have shapes of their own, and look
            # like what is the same on every worker.
            rows = tf.raw_ops.PlaceholderWithDefault(input=rows, shape=[])
        self.rows = rows
        ends = rows * tf.range(CREW.size + 1) // CREW.size
        self.counts = ends[1:] - ends[:-1]
        self.own = self.counts[CREW.rank]
        self.taken = tf.maximum(self.own, 1)
        self.begin = tf.minimum(ends[CREW.rank], rows - 1)
        # Weights as they enter, once for each; within loops they come from outside of them.
        self.entered: dict[int, Any] = {}
        self.graph = None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()
        # Of which tensor rows were taken, by these rows: it need not be sent to be whole again.
        self.wholes: dict[Any, Any] = {}
        # Tensors that are the same on every worker, though they were made further in.
        self.alike: dict[Any, Any] = {}
        # Where tensors stand in the places of weights: layer, attribute, weight.
        self.places: list[tuple[Any, str, Any]] = []
        # Whether all that is called now was tried, so that nothing in it need be.
        self.tried = False

    def parts_of(self, count: Any) -> Any:
        """How many rows of a tensor belong to one sample, as in a batch of sequences made flat."""
        return whole_parts(count, self.taken)

    def take(self, whole: Any) -> Any:
        """This worker's rows of the whole."""

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def cut(tensor: Any) -> Any:
            parts = whole_parts(tf.shape(tensor)[0], self.rows)
            begin = self.begin * parts
            mine = tensor[begin : begin + self.taken * parts]
            return mine, lambda gradient: self.gather(gradient)

        mine = cut(whole)
        self.wholes[mine.ref()] = whole
        return mine

    def gather(self, mine: Any) -> Any:
        """The whole of which these are this worker's rows."""

        if isinstance(mine, tf.Tensor) and mine.ref() in self.wholes:
            return self.wholes[mine.ref()]

        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def joined(tensor: Any) -> Any:
            parts = self.parts_of(tf.shape(tensor)[0])
            send = gather_texts if tensor.dtype == tf.string else CREW.exchange.gather
            whole = send(tensor[: self.own * parts], self.counts * parts)
            whole.set_shape([None, *tensor.shape[1:]])

            def gradient(whole_gradient: Any) -> Any:
                note_pull(whole_gradient)
                mine = self.take(whole_gradient)
                return tf.where(self.own > 0, mine, tf.zeros_like(mine))

            return whole, gradient

        return joined(tf.convert_to_tensor(mine))

    def note_alike(self, tensor: Any) -> None:
        """A tensor was computed of the whole batch, and has no rows of its own."""
        self.alike[tensor.ref()] = tensor

    def is_alike(self, tensor: Any) -> bool:
        return isinstance(tensor, tf.Tensor) and tensor.ref() in self.alike

    def reading(self, variable: Any, read: Any) -> Any:
        """The value of a weight for use with this worker's rows."""
        known = self.entered.get(id(variable))
        if known is not None:
            return known
        value = enter(read())
        if tf.executing_eagerly() or tf.compat.v1.get_default_graph() is self.graph:
            self.entered[id(variable)] = value
        return value

    def changed(self, variable: Any) -> None:
        """A weight was given another value: it is to be read anew."""
        self.entered.pop(id(variable), None)


def whole_parts(count: Any, rows: Any) -> Any:
    """How often so many rows go into a number of them; ends the run if something is left over."""
    message = "trainera: a network has rows that do not follow those of its batch"
    check = tf.debugging.assert_equal(count % rows, 0, message)
    with tf.control_dependencies([check] if check is not None else []):
        return tf.identity(count // rows)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def enter(alike: Any) -> Any:
    """What all have alike, for use with this worker's rows."""
    return tf.identity(alike), lambda gradient: add_up(tf.convert_to_tensor(gradient))


@tf.custom_gradient  # type: ignore[untyped-decorator]
def add_up(part: Any) -> Any:
    """The sum of what the workers have each."""
    return CREW.exchange.add_up(part), lambda gradient: enter(gradient)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def one_of_each(part: Any) -> Any:
    """What the workers have each, one behind the other in a new first dimension."""
    whole = CREW.exchange.gather(part[None], tf.ones([CREW.size], tf.int32))
    whole.set_shape([CREW.size, *part.shape])
    return whole, lambda gradient: enter(gradient)[CREW.rank]
