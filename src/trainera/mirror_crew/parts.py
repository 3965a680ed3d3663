"""A batch in parts, one on each device, and the whole batch: each leads to the other.

`cut` makes parts of the whole and `join` the whole of parts. Each is the gradient of the other, and
each knows what the other made: the parts of a tensor that was joined are there already, so nothing
travels between layers that follow each other. That the whole is still computed where somebody looks
at it, and that gradients pass through it, is what makes everything else see an ordinary tensor.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

from trainera.mirror_crew.state import CREW

PARTS = "_crew_parts"
"""The attribute of a whole tensor by which its parts are found."""
MASK, LOGITS = "_keras_mask", "_keras_logits"
SQUASHING = {"Sigmoid": tf.nn.sigmoid, "Softmax": tf.nn.softmax}


class Cuts:
    """Which rows of a batch each device has.

    Where there are fewer rows than devices, some take one of others along, which counts nothing:
    not all of TensorFlow's kernels can do with none.
    """

    def __init__(self, rows: Any) -> None:
        self.rows = rows
        size = len(CREW.names)
        ends = [rows * number // size for number in range(size + 1)]
        self.counts = [ends[number + 1] - ends[number] for number in range(size)]
        if isinstance(rows, int):
            self.begins = [max(min(begin, rows - 1), 0) for begin in ends[:-1]]
            self.taken = [max(count, 1) for count in self.counts]
        else:
            self.begins = [tf.maximum(tf.minimum(begin, rows - 1), 0) for begin in ends[:-1]]
            self.taken = [tf.maximum(count, 1) for count in self.counts]

    def pieces(self, whole: Any) -> "list[Any]":
        """The rows of each device."""
        found = []
        for name, begin, taken in zip(CREW.names, self.begins, self.taken, strict=True):
            with tf.device(name):
                found.append(tf.identity(whole[begin : begin + taken]))
        return found

    def counted(self, parts: "list[Any]") -> "list[Any]":
        """Of each part the rows that count."""
        found = []
        for name, part, count in zip(CREW.names, parts, self.counts, strict=True):
            with tf.device(name):
                found.append(part[:count])
        return found

    def silenced(self, pulls: "list[Any]") -> "list[Any]":
        """Gradients by device, with nought for rows that count nothing."""
        found = []
        for name, pull, count in zip(CREW.names, pulls, self.counts, strict=True):
            with tf.device(name):
                found.append(tf.where(count > 0, pull, tf.zeros_like(pull)))
        return found


def cut(whole: Any) -> "list[Any]":
    """The parts of a tensor, each on its device."""
    return cut_up(whole)[0]


def cut_up(whole: Any) -> "tuple[list[Any], Cuts]":
    """The same, and which rows they are."""
    from tensorflow.python.eager import record

    known = parts_of(whole)
    with record.stop_recording():
        if known is not None:
            cuts = known[1]
            made = [on_device(number, part) for number, part in enumerate(known[0])]
        else:
            cuts = Cuts(whole.shape[0] or tf.shape(whole)[0])
            made = cuts.pieces(whole)
    link(made, [whole], lambda *pulls: join([dense(pull) for pull in pulls], cuts))
    mask = getattr(whole, MASK, None)
    if mask is not None:
        for part, part_of_mask in zip(made, cut(mask), strict=True):
            setattr(part, MASK, part_of_mask)
    return made, cuts


def on_device(number: int, part: Any) -> Any:
    with tf.device(CREW.names[number]):
        return tf.identity(part)


def join(parts: "list[Any]", cuts: Cuts) -> Any:
    """The tensor of which these are the parts.

    Losses compute from logits where a network ends with a sigmoid or softmax. Keras writes them on
    the tensor, or a loss looks at the operation, each at one of the two: so it has to be there.
    """
    squashed = squashing(parts)
    if squashed is None:
        whole = joined(parts, cuts)
    else:
        whole = SQUASHING[squashed](joined([part.op.inputs[0] for part in parts], cuts))
    setattr(whole, PARTS, (list(parts), cuts))
    logits = [getattr(part, LOGITS, None) for part in parts]
    if all(one is not None for one in logits):
        setattr(whole, LOGITS, join(logits, cuts))
    return whole


def joined(parts: "list[Any]", cuts: Cuts) -> Any:
    """The rows of all parts that count."""
    from tensorflow.python.eager import record

    with record.stop_recording(), tf.device(CREW.names[0]):
        whole = tf.concat(cuts.counted(parts), 0)
    rows = cuts.rows if isinstance(cuts.rows, int) else None
    whole.set_shape([rows, *parts[0].shape[1:]])

    def gradient(pull: Any) -> "list[Any]":
        pull = dense(pull)
        pulls = cut(pull)
        return pulls if parts_of(pull) is not None else cuts.silenced(pulls)

    link([whole], parts, gradient)
    return whole


def link(made: "list[Any]", given: "list[Any]", gradient: Callable[..., Any]) -> None:
    """Tells tapes what was made of what, and how gradients lead back.

    Graphs that are differentiated without a tape are wired by plain operations.
    """
    from tensorflow.python.eager import record

    if made[0].dtype.is_floating or made[0].dtype.is_complex:

        def back(*pulls: Any) -> Any:
            found = gradient(*pulls)
            return found if isinstance(found, list) else [found]

        record.record_operation("Crew", made, given, back)


def parts_of(whole: Any) -> "tuple[list[Any], Cuts] | None":
    """The parts of which a tensor was joined, if it was, and by the program that asks."""
    found: tuple[list[Any], Cuts] | None = getattr(whole, PARTS, None)
    if found is None:
        return None
    if tf.executing_eagerly():
        return found
    same = getattr(found[0][0], "graph", None) is tf.compat.v1.get_default_graph()
    return found if same else None


def dense(pull: Any) -> Any:
    """A gradient as an ordinary tensor; that of a look-up has rows only where one was looked up."""
    return tf.convert_to_tensor(pull)


def squashing(parts: "list[Any]") -> str | None:
    """The sigmoid or softmax that made all parts, if one did and Keras wrote no logits on them."""
    if tf.executing_eagerly() or hasattr(parts[0], LOGITS):
        return None
    (kind, *others) = {part.op.type for part in parts}
    return kind if not others and kind in SQUASHING else None
