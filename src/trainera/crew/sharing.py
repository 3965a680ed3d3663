"""What a slice of a batch is worth, and how the whole batch's values are made of all slices."""

import warnings
from typing import Any

import torch

from trainera.crew.linking import linked, linked_rows
from trainera.crew.passes import StandIn
from trainera.crew.reduction import reduce_values
from trainera.crew.rows import (
    Cutter,
    checked_rows,
    concatenated,
    list_kind,
    portable,
    row_count,
    slice_bounds,
)
from trainera.crew.state import CREW, StepValues
from trainera.crew.wire import gather_objects


def current() -> "Shared":
    """Whose batches are being trained on: a split loader, or a loop that cuts its own."""
    found = CREW.innermost()
    if found is None:  # not `or`: it may have a length, and may have none
        found = CREW.last
    if not isinstance(found, Shared):
        raise RuntimeError("no loop over batches has begun yet")
    return found


class Shared(StepValues):
    """Where batches come from that the workers share."""

    _skip_empty = False
    _weighs_nothing_yet = False
    """What was made for one loop, and has had no batch so far, says nothing of earlier ones."""

    def __init__(self) -> None:
        super().__init__()
        self._stand_in = StandIn()
        self._set_step(CREW.size, 1)
        if CREW.size > 1:
            # A loss between [n, 1] and [n] compares every sample with every other: no slice can
            # do that. torch only warns, and goes on.
            warnings.filterwarnings("error", "Using a target size", UserWarning)

    def sum(self, value: Any) -> Any:
        """The sum over the workers that have samples of this batch; the type is kept."""
        if CREW.size == 1:
            return value
        self._check_begun()
        whole = reduce_values((value,), None if self.active else 0.0)[0]
        return linked(value, whole, float(self.active))

    def mean(self, value: Any) -> Any:
        """The mean over the samples of this batch, of means over each worker's samples."""
        if CREW.size == 1:
            return value
        whole = reduce_values((value,), self.fraction, mean=True)[0]
        if not isinstance(value, float) or abs(whole - value) > 1e-9 * abs(value):
            self._check_begun()  # what all workers have alike needs no batch
        return linked(value, whole, self.fraction)

    def combine(self, value: Any, how: Any) -> Any:
        """A tuple or dict, each part made whole in its way: by sum, mean or gather, or as it is."""
        if isinstance(how, str):
            return getattr(self, how)(value) if how else value
        if isinstance(how, dict):
            return {**value, **{key: self.combine(value[key], how[key]) for key in how}}
        parts = [self.combine(part, way) for part, way in zip(value, how, strict=True)]
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
        start, stop = slice_bounds(whole, CREW.rank, CREW.size)
        if mine:
            return Cutter().cut(rows, whole, start, stop)
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
        if isinstance(value, list) and self._are_fields(value):
            return list(self.gather(tuple(value)))
        if parts > 1:
            each = len(value) // parts
            views = [value[each * part : each * (part + 1)] for part in range(parts)]
            return concatenated(value, [self.gather(view) for view in views])
        checked_rows(value, self._step[1], self.active)
        pieces = gather_objects(portable(value) if self.active else None)
        whole = concatenated(value, [piece for piece in pieces if piece is not None])
        start, _ = slice_bounds(self._step[0], CREW.rank, CREW.size)
        return linked_rows(value, whole, start, self._step[1])

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
