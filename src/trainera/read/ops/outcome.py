"""What an operation makes of shards: a value, or the word that rows do not stay apart."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from trainera.read.values import Mean, Sum, Value


@dataclass(frozen=True)
class Mixed:
    """Rows of the batch are combined with each other, for certain or for all that is known."""

    certain: bool
    rows: bool = True
    """Made of the whole batch, the result may still have its rows."""
    likely: Value | None = None
    """What it is if rows stay apart, as they do if tensors have the ranks that are usual."""


@dataclass(frozen=True)
class Figure:
    """One figure of the slice that is neither a sum nor a mean, such as its largest entry."""


MIXED = Mixed(certain=True)
REDUCED = Mixed(certain=True, rows=False)
UNKNOWN = Mixed(certain=False)
FIGURE = Figure()
Outcome = Value | Mixed | Figure


def unless_mixed(likely: Value) -> Mixed:
    """Not known to keep rows apart; this, if it does."""
    return Mixed(certain=False, likely=likely)


def made_of(outcome: Outcome, change: Callable[[Value], Value]) -> Outcome:
    """The same for what is made of the outcome."""
    if isinstance(outcome, Mixed) and outcome.likely is not None:
        return replace(outcome, likely=change(outcome.likely))
    return change(outcome) if isinstance(outcome, Value) else outcome


def leaves_rows(outcome: Outcome | None) -> bool:
    """Whether what is made of the whole batch may still have a row for each sample."""
    if isinstance(outcome, Mixed):
        return outcome.rows
    return not isinstance(outcome, Figure | Sum | Mean)
