"""What a slice of a batch is worth, and how the whole batch's values are made of all slices."""

import warnings
from collections.abc import Iterator
from typing import Any

import torch

from trainera.crew.dealing import Dealer
from trainera.crew.kernels import replace_kernels
from trainera.crew.linking import linked, linked_rows
from trainera.crew.passes import StandIn
from trainera.crew.reduction import reduce_each, reduce_values
from trainera.crew.rows import (
    Cutter,
    checked_rows,
    concatenated,
    list_kind,
    portable,
    row_count,
)
from trainera.crew.slice_figures import plain_figures
from trainera.crew.state import CREW, StepValues
from trainera.crew.stretching import LOOKOUT
from trainera.crew.trials import TRIALS
from trainera.crew.wire import gather_objects


def current() -> "Shared":
    """Whose batches are being trained on: a split loader, or a loop that cuts its own."""
    found = CREW.innermost()
    if found is None:  # not `or`: it may have a length, and may have none
        found = CREW.last
    if not isinstance(found, Shared):
        raise RuntimeError("no loop over batches has begun yet")
    return found


def parts_in(value: Any, how: Any) -> Iterator[tuple[str, Any]]:
    """The parts of a tuple or dict, each with the way in which it is made whole, in order."""
    if isinstance(how, str):
        yield how, value
    elif isinstance(how, dict):
        for key in how:
            yield from parts_in(value[key], how[key])
    else:
        for part, way in zip(value, how, strict=True):
            yield from parts_in(part, way)


class Shared(StepValues):
    """Where batches come from that the workers share."""

    _skip_empty = False
    _weighs_nothing_yet = False
    """What was made for one loop, and has had no batch so far, says nothing of earlier ones."""

    _tries = False
    """Whether the networks that its batches are given to are tried without being asked for."""

    def __init__(self) -> None:
        super().__init__()
        self._begun_before = 0
        self._dealer = Dealer()
        TRIALS.begun |= self._tries
        self._stand_in = StandIn()
        self._set_step(CREW.size, 1)
        if CREW.size > 1 and CREW.exact:
            replace_kernels()
        if CREW.size > 1:
            # A loss between [n, 1] and [n] compares every sample with every other: no slice can
            # do that. torch only warns, and goes on.
            warnings.filterwarnings("error", "Using a target size", UserWarning)

    def _set_step(self, whole: int, mine: int) -> None:
        super()._set_step(whole, mine)
        if self._tries or TRIALS.asked:
            TRIALS.step(self.begun - self._begun_before)

    def _pass_ended(self) -> None:
        self._begun_before = self.begun
        if self._tries or TRIALS.asked:
            TRIALS.end()

    def sum(self, *values: Any) -> Any:
        """The sum over the workers that have samples of this batch; the type is kept.

        Of several values, of each; in one exchange.
        """
        return self._each("sum", values)

    def mean(self, *values: Any) -> Any:
        """The mean over the samples of this batch, of means over each worker's samples.

        Of several values, of each; in one exchange.
        """
        return self._each("mean", values)

    def _each(self, way: str, values: tuple[Any, ...]) -> Any:
        if CREW.size > 1:
            values = tuple(self._figures([(way, value) for value in values]))
        return values[0] if len(values) == 1 else values

    def _figures(self, figures: list[tuple[str, Any]]) -> list[Any]:
        """Sums and means of the whole batch, all of them in one exchange."""
        figures = [(way, plain_figures(value)) for way, value in figures]
        rows, mine = self._step
        weighed = [
            (value, float(mine) if way == "mean" else None, way == "mean") for way, value in figures
        ]
        if any(way == "sum" for way, _ in figures):
            self._check_begun()
        wholes = reduce_each(weighed, self.active, max(rows, 1))
        results = []
        for (way, value), whole in zip(figures, wholes, strict=True):
            if way == "mean":
                if not isinstance(value, float) or abs(whole - value) > 1e-9 * abs(value):
                    self._check_begun()  # what all workers have alike needs no batch
                results.append(linked(value, whole, self.fraction))
            else:
                results.append(linked(value, whole, float(self.active)))
        return results

    def combine(self, value: Any, how: Any) -> Any:
        """A tuple or dict, each part made whole in its way: by sum, mean or gather, or as it is.

        All sums and means of it travel together.
        """
        if CREW.size == 1:
            return value
        figures = [(way, part) for way, part in parts_in(value, how) if way in ("sum", "mean")]
        wholes = iter(self._figures(figures) if figures else ())
        return self._combined(value, how, wholes)

    def _combined(self, value: Any, how: Any, wholes: Iterator[Any]) -> Any:
        if how in ("sum", "mean"):
            return next(wholes)
        if isinstance(how, str):
            return getattr(self, how)(value) if how else value
        if isinstance(how, dict):
            made = {key: self._combined(value[key], how[key], wholes) for key in how}
            return {**value, **made}
        parts = [self._combined(part, way, wholes) for part, way in zip(value, how, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)

    def by_weight(
        self,
        loss: torch.Tensor,
        target: torch.Tensor,
        of: Any = None,
        weight: torch.Tensor | None = None,
        ignore_index: int = -100,
    ) -> torch.Tensor:
        """A mean over class weights or unignored targets, scaled to count like one over samples.

        The slice's part of the batch's weight takes the place of its part of the samples.
        """
        if CREW.size == 1 or CREW.innermost() is None or target.is_floating_point():
            return loss
        if of is not None:
            weight, ignore_index = getattr(of, "weight", None), getattr(of, "ignore_index", -100)
        kept = target[target != ignore_index]
        mine = float(kept.numel() if weight is None else weight[kept].sum().item())
        whole: float = reduce_values((mine,), None if self.active else 0.0)[0]
        if whole == 0:
            return loss
        if mine == 0 or not self.active:
            return loss.nan_to_num() * 0.0
        scaled: torch.Tensor = loss * (mine / whole / self.fraction)
        return scaled

    def mine(self, rows: Any) -> Any:
        """This worker's rows of what was made for all samples of the batch, as each worker does."""
        if CREW.size == 1:
            return rows
        whole, mine = self._step
        start = self._start
        if mine:
            return LOOKOUT.marked(Cutter().cut(rows, whole, start, start + mine), mine)
        # An idle worker computes with the rows that stand in for a batch: as many as those.
        count = row_count(self._stand_in.row) if self._stand_in.kept else min(2, whole)
        stand_ins = rows[[number % whole for number in range(count or 1)]]
        if isinstance(stand_ins, torch.Tensor) and stand_ins.requires_grad:
            # They count for nobody, so no gradient of theirs may reach the samples.
            stand_ins.register_hook(torch.zeros_like)  # type: ignore[no-untyped-call]
        return stand_ins

    def gather(self, value: Any, parts: int = 1) -> Any:
        """The rows of all workers, in order: what the sequential script has at this place.

        A tensor, an array or a list with one entry for each sample of this worker (or a whole
        multiple), or a tuple or dict of those. Or such a tensor of several parts, one after the
        other, as of two views of the same samples. Or a batch as it came, a list of its fields.
        """
        if CREW.size == 1:
            return value
        self._check_begun()
        value = plain_figures(value)
        if isinstance(value, list) and self._are_fields(value):
            return list(self.gather(tuple(value)))
        if parts > 1:
            each = len(value) // parts
            views = [value[each * part : each * (part + 1)] for part in range(parts)]
            return concatenated(value, [self.gather(view) for view in views])
        checked_rows(value, self._step[1], self.active)
        pieces = gather_objects(portable(value) if self.active else None)
        whole = concatenated(value, [piece for piece in pieces if piece is not None])
        return linked_rows(value, whole, self._start, self._step[1])

    def _check_begun(self) -> None:
        if self._weighs_nothing_yet and not self.begun:
            raise RuntimeError(
                "trainera: a value of a batch is used after a loop that had no round: what it was "
                "computed from belongs to an earlier loop, and what it weighs is not known any more"
            )

    def _are_fields(self, value: list[Any]) -> bool:
        """Whether a list has one entry for each field of the batch, and not for each sample."""
        kinds = gather_objects(list_kind(value, self._step[1]) if self.active else None)
        if "fields" in kinds or "rows" in kinds:
            return "fields" in kinds
        raise ValueError(
            f"cannot gather a list of {len(value)} items of {self._step[1]} rows each: they may be "
            "the samples of the batch or its fields; use another batch size"
        )

    def gather_picked(self, rows: Any) -> Any:
        """The same for rows that a condition picked: each worker has as many as it has."""
        if CREW.size == 1:
            return rows
        pieces = gather_objects(portable(rows) if self.active else None)
        whole = concatenated(rows, [piece for piece in pieces if piece is not None])
        first = 0
        for piece in pieces[: CREW.rank]:
            first += 0 if piece is None else len(piece)
        return linked(rows, whole, float(self.active), first)
