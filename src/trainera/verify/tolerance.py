"""How far two numbers may be apart and still be the same up to rounding."""

import math
from dataclasses import dataclass

_CLOSE = 1e-6


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Relative; it grows with the steps, because every step rounds what the last one left."""

    dtype: str
    first: float
    growth_steps: float
    most: float

    def at(self, step: int) -> float:
        """The tolerance at an optimizer step."""
        return min(self.most, self.first * (1 + step / self.growth_steps))

    def __str__(self) -> str:
        return f"{self.first:.0e} · (1 + step/{self.growth_steps:.0f}), at most {self.most:.0e}"


def for_dtype(dtype: str) -> Tolerance:
    """Of float64, the eight last digits are left to rounding, which is plenty."""
    if dtype == "float64":
        return Tolerance(dtype=dtype, first=1e-9, growth_steps=10, most=1e-6)
    return Tolerance(dtype=dtype, first=1e-4, growth_steps=10, most=0.1)


def apart(one: float, other: float, scale: float = 0.0) -> float:
    """The relative distance; `scale` is the size below which numbers count as nought."""
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    if not (math.isfinite(one) and math.isfinite(other)):
        return math.inf
    return abs(one - other) / max(abs(one), abs(other), scale)


def close(one: float, other: float) -> bool:
    """Whether two numbers are meant to be the same, when a cause is looked for."""
    return apart(one, other) < _CLOSE
