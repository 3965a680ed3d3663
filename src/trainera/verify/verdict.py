"""What a comparison comes to: plain data that can be printed, saved and drawn."""

from dataclasses import asdict, dataclass, field
from enum import Enum
from typing import Any


class Outcome(str, Enum):
    """The three answers."""

    EQUIVALENT = "EQUIVALENT"
    DIFFERENT = "DIFFERENT"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A quantity that the two runs do not agree on."""

    quantity: str
    """samples, initial weights, loss, gradient, learning rate, weights, steps, printed, saved …"""
    step: int | None
    """The optimizer step, from 0; None where it belongs to the run as a whole."""
    sequential: str
    parallel: str
    relative: float | None = None
    where: str = ""
    """A parameter, a line, a file."""


@dataclass(frozen=True, kw_only=True)
class Largest:
    """The largest difference of a quantity that was found to agree, or up to where it did."""

    quantity: str
    relative: float
    step: int | None
    compared: int
    """How many values were compared."""


@dataclass(frozen=True, kw_only=True)
class Diagnosis:
    """The likely cause, by what differed first."""

    name: str
    text: str
    do: str = ""


@dataclass(frozen=True, kw_only=True)
class Curve:
    """The losses of both runs, step by step."""

    sequential: tuple[float, ...]
    parallel: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """The answer, with all that supports it."""

    outcome: Outcome
    reason: str
    script: str
    engine: str
    workers: int
    dtype: str
    tolerance: str
    steps: int
    epochs: int
    first: Difference | None = None
    differences: tuple[Difference, ...] = ()
    """The first of each quantity, in the order in which they came about."""
    diagnosis: Diagnosis | None = None
    largest: tuple[Largest, ...] = ()
    rows: tuple[int, ...] = ()
    """Samples that each worker learned from."""
    chance: bool = False
    """It is undecided because of random numbers; the results of many runs may tell."""
    notes: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    """Where each worker stood when the run was ended because nothing moved any more."""
    sequential_s: float = 0.0
    parallel_s: float = 0.0
    curve: Curve = field(default_factory=lambda: Curve(sequential=(), parallel=()))

    def as_data(self) -> dict[str, Any]:
        """For `--json`."""
        return {**asdict(self), "outcome": self.outcome.value}
