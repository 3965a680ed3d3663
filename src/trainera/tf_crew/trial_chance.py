"""Random numbers while code is tried: those of the run stay where they are, but for new weights."""

import contextlib
import random
from collections.abc import Iterator
from typing import Any

import numpy
import tensorflow as tf

from trainera.tf_crew.state import CREW

ROWS = 6
"""How many rows are made up for a trial."""
SEED = 1801439851


class Chance:
    """Two states of all that draws: the one of the run, and that of a trial.

    Operations that draw keep a state of their own for each seed, which cannot be put back: on
    trial they are given another one. But weights that a layer makes in its first call are the
    run's, which makes them no more, so they are drawn as the run would.
    """

    def __init__(self) -> None:
        self.other = (random.getstate(), numpy.random.get_state(), SEED, random.Random(SEED))

    def swap(self) -> None:
        """Goes on with the state that was put aside, and puts the present one aside."""
        from tensorflow.python.eager import context

        settings = context.context()
        present = (random.getstate(), numpy.random.get_state(), settings._seed, settings._rng)
        python, arrays, settings._seed, settings._rng = self.other
        random.setstate(python)
        numpy.random.set_state(arrays)
        self.other = present

    @contextlib.contextmanager
    def of_the_run(self) -> Iterator[None]:
        """The time in which something is drawn that the run keeps."""
        self.swap()
        try:
            yield
        finally:
            self.swap()


def connect_building() -> None:
    """Has layers that make their weights on trial draw them as the run would."""
    from keras.src.engine import base_layer

    plain = base_layer.Layer._maybe_build

    def maybe_build(self: Any, inputs: Any) -> Any:
        chance = CREW.here.building
        if chance is None or self.built:
            return plain(self, inputs)
        CREW.here.building = None
        try:
            with chance.of_the_run():
                return plain(self, inputs)
        finally:
            CREW.here.building = chance

    base_layer.Layer._maybe_build = maybe_build


class OnTrial:
    """The rows that a layer is given, and what it is given in place of random numbers.

    These hang on the row that they are for, if each row of the batch has its place among the rows
    that are drawn for; if it has another one, the trial comes out differently.
    """

    def __init__(self, rows: "list[int] | None") -> None:
        self.rows = rows
        self.draws = 0

    def check(self, count: Any) -> int:
        """How many of so many rows belong to one of the batch's."""
        if self.rows is None:
            return 1
        parts, rest = divmod(int(count), len(self.rows))
        if rest or not parts:
            raise ValueError("these are not the rows of the batch")
        return parts

    def drawn(self, shape: Any, dtype: Any) -> Any:
        """Numbers between 0 and 1, the same for a row whatever others there are."""
        if self.rows is None:
            return tf.ones(shape, dtype)
        sizes = [int(size) for size in tf.convert_to_tensor(shape).numpy()]
        parts = self.check(sizes[0])
        self.draws += 1
        numbers = numpy.random.default_rng([self.draws, *sizes[1:]])
        pattern = numbers.uniform(0.2, 0.9, [ROWS * parts, *sizes[1:]])
        chosen = [row * parts + part for row in self.rows for part in range(parts)]
        return tf.constant(pattern[chosen], dtype)
