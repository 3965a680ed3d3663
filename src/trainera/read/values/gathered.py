"""What is computed from values of the whole batch."""

from dataclasses import replace

from trainera.read.values import PLAIN, Gathered, PerWorker, Value
from trainera.read.values.contents import gathered_in


def gathered_of(*values: Value) -> Value:
    """What is computed from values of which some are the whole batch's."""
    found = [whole for value in values for whole in gathered_in(value)]
    if not found:
        return next((value for value in values if isinstance(value, PerWorker)), PLAIN)
    models = frozenset().union(*(value.models for value in found))
    rows = [value for value in found if value.rows]
    number = any(value.number for value in found)
    drawn = all(value.drawn for value in found)
    made = (rows or found)[0].made
    return Gathered(found[0].loaders, bool(rows), number, models, made, drawn=drawn)


def aligned_like(value: Value, aligned: bool) -> Value:
    """The value, of which it is known whether it has a row for each sample of the batch."""
    return replace(value, aligned=aligned) if isinstance(value, Gathered) else value


def is_aligned(value: Value) -> bool:
    return isinstance(value, Gathered) and value.aligned


def row_by_row(*values: Value) -> Value:
    """The same for what treats entries one by one: rows stay rows."""
    wholes = [value for value in values if isinstance(value, Gathered)]
    return aligned_like(gathered_of(*values), any(value.aligned for value in wholes))


def sized(value: Value) -> Value:
    """What a call gives that knows how many samples the batch has: perhaps a row for each."""
    return replace(value, rows=True) if isinstance(value, Gathered) and value.number else value
