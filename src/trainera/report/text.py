"""Figures as readers see them."""

from trainera.bench.statistics import Estimate

DASH = "–"


def figure(value: float | None, digits: int = 3) -> str:
    """To so many digits."""
    if value is None:
        return DASH
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", "\u202f")
    return f"{value:.{digits}g}"


def with_interval(value: Estimate | None) -> str:
    """``1.75 (1.70–1.82)``."""
    if value is None:
        return DASH
    if value.low is None or value.high is None or value.low == value.high:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f}–{value.high:.2f})"
