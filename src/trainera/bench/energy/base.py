"""What a meter is: counters of joules that only grow. One that is missing is an object, too."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trainera.results import Part


class Gone(Exception):
    """A device that answered before does not any more."""


class Counter(Protocol):
    """The energy of one device since the counter was opened."""

    device: str
    part: Part
    gpu: int | None
    """The index of a GPU; None for the rest."""

    def read_j(self, now_s: float) -> float:
        """Joules so far; raises `Gone`. To be called often enough that no wrap is missed."""
        ...


@dataclass(frozen=True, kw_only=True)
class NoMeter:
    """Stands where a meter is missing, and says why."""

    name: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Meters:
    """Every counter of a machine, each device once."""

    counters: tuple[Counter, ...] = ()
    missing: tuple[NoMeter, ...] = ()

    @classmethod
    def of(cls, *found: Sequence[Counter] | NoMeter) -> "Meters":
        counters = [one for some in found if not isinstance(some, NoMeter) for one in some]
        missing = tuple(one for one in found if isinstance(one, NoMeter))
        once = {counter.device: counter for counter in counters}
        return cls(counters=tuple(once.values()), missing=missing)

    def __bool__(self) -> bool:
        return bool(self.counters)

    @property
    def why_not(self) -> str:
        return "; ".join(f"{one.name}: {one.reason}" for one in self.missing)
