"""Looks whether all processes really compute with the same batches and weights.

An array that lies on the devices of several processes is made from what each of them holds. Where
these hold different things (random numbers of a source without a seed, files that come in another
order) JAX would go on with a mixture, so the processes compare what they have put there.
"""

import zlib
from typing import Any

import numpy

from trainera.jax_crew.state import CREW

TOLERANCE_OF_FIGURES = 1e-5
"""Figures of devices are alike; those that a script computes itself may differ by rounding."""


def note(array: Any) -> None:
    """Adds an array to what was put on the devices; the order counts."""
    CREW.seen = zlib.crc32(numpy.ascontiguousarray(array).data.cast("B"), CREW.seen)


def compare_processes(figures: "tuple[float, ...]" = ()) -> None:
    """Ends the run where processes have parted; figures are those that all should have alike."""
    first, *others = CREW.exchange.of_all((CREW.seen, figures))
    for other in others:
        if other[0] != first[0]:
            raise SystemExit(
                "trainera: the processes were given different batches or weights: the order or the "
                "content of the data hangs on something that each has for itself. Seed it "
                "(set_random_seed, a seed for default_rng or shuffle), and take the order of files "
                "from a sorted list"
            )
        if len(other[1]) != len(first[1]) or not all(map(close_enough, first[1], other[1])):
            raise SystemExit(
                "trainera: the processes have other figures at the end of the same epoch: a "
                "callback or a metric hangs on something that each has for itself"
            )


def close_enough(one: float, other: float) -> bool:
    """Whether they differ by rounding only; two that are no numbers are alike."""
    same_kind = (one != one) == (other != other)
    return same_kind and not abs(one - other) > TOLERANCE_OF_FIGURES * max(abs(one), abs(other))
