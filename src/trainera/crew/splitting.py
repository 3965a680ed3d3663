"""Splitting a loader: every worker gets its slice of every batch."""

import warnings
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, IterDataPipe

from trainera.crew.linking import linked, linked_rows
from trainera.crew.passes import Pass, StandIn
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
from trainera.crew.sampling import SliceSampler, grown, never_draws, reading
from trainera.crew.state import CREW, StepValues
from trainera.crew.streams import STREAMS
from trainera.crew.wire import gather_objects


def split(
    loader: Any, *, skip_empty: bool = False, collate_first: bool = False, per_worker: bool = False
) -> "Split":
    """The loader, sharing every batch among the workers.

    skip_empty: a worker without a sample of a batch skips the step, instead of computing with a
    stand-in at weight 0. Right where nothing in the loop waits for the other workers.
    collate_first: collate the whole batch, then cut; for a collate_fn that looks across samples.
    per_worker: a step takes as many of the loader's batches as there are workers.
    """
    if isinstance(loader, Split):
        return loader
    if not isinstance(loader, DataLoader):
        raise TypeError(f"only a torch DataLoader can be split, not a {type(loader).__name__}")
    return Split(grown(loader) if per_worker else loader, skip_empty, collate_first)


def whole(loader: Any) -> "WholeLoader":
    """The loader, read in full by every worker in the order of the first one.

    Also of one that is split, for a batch that is taken apart from the loop over the others.
    """
    if isinstance(loader, Split) and CREW.size > 1 and loader.persistent_workers:
        # They keep a seed that is drawn once; readers of their own would draw another.
        raise ValueError(
            "a loader with persistent_workers=True cannot be read in full beside its loop: "
            "leave that option out, or take the batch from a loader of its own"
        )
    return loader if isinstance(loader, WholeLoader) else WholeLoader(loader)


class WholeLoader:
    """A loader that is not shared; all that it draws is drawn from the shared stream."""

    def __init__(self, loader: Any) -> None:
        self._generators = loader._generators() if isinstance(loader, Split) else []
        self._loader = loader._loader if isinstance(loader, Split) else loader

    def __iter__(self) -> Iterator[Any]:
        if CREW.size == 1:
            yield from self._loader
            return
        STREAMS.synchronise(self._generators)
        held_own = STREAMS.to_shared()
        try:
            batches = iter(self._loader)
        finally:
            STREAMS.back(held_own)
        while True:
            held_own = STREAMS.to_shared()
            try:
                batch = next(batches)
            except StopIteration:
                return
            finally:
                STREAMS.back(held_own)
            yield batch

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":  # asked for by copy and pickle before there is one
            raise AttributeError(name)
        return getattr(self._loader, name)


def current() -> "Split":
    """The split loader whose loop is running; if none is, the one that ran last."""
    found = CREW.innermost() or CREW.last
    if not isinstance(found, Split):
        raise RuntimeError("no pass over a split loader has begun yet")
    return found


class Split(StepValues):
    """A loader whose batches are shared; all else is as the loader it was made of."""

    def __init__(self, loader: DataLoader[Any], skip_empty: bool, collate_first: bool) -> None:
        super().__init__()
        self._loader = loader
        self._skip_empty = skip_empty
        self._inner: DataLoader[Any] | None = None
        self._sampler: SliceSampler | None = None
        self._cutter: Cutter | None = None
        self._stand_in = StandIn()
        self._set_step(CREW.size, 1)
        if CREW.size == 1:
            return
        # A loss between [n, 1] and [n] compares every sample with every other: no slice can do
        # that. torch only warns, and goes on.
        warnings.filterwarnings("error", "Using a target size", UserWarning)
        if isinstance(loader.dataset, IterDataPipe):
            raise TypeError("an IterDataPipe shards itself among workers; it cannot be split")
        by_index = (
            not isinstance(loader.dataset, IterableDataset)
            and loader.batch_sampler is not None
            and type(loader).__iter__ is DataLoader.__iter__
        )
        if collate_first or not by_index:
            self._cutter = Cutter()
        if by_index:
            self._sampler = SliceSampler(
                loader.batch_sampler, loader.generator, slices=self._cutter is None
            )
            self._sampler.fetches_here = (
                self._cutter is None and loader.num_workers == 0 and not never_draws(loader)
            )
            self._sampler.skips_idle = skip_empty

    def __iter__(self) -> Iterator[Any]:
        if CREW.size == 1:
            CREW.last = self
            return iter(self._loader)
        STREAMS.synchronise(self._generators())
        held_own = STREAMS.to_shared()
        try:
            steps = self._begin()
        finally:
            STREAMS.back(held_own)
        return Pass(self, steps, self._sampler, self._cutter, self._stand_in, self._skip_empty)

    def _begin(self) -> Iterator[Any]:
        if self._inner is None:
            self._inner = self._loader
            if self._sampler is not None:
                self._inner = reading(self._loader, self._sampler, self._sampler.inner_generator)
            fresh = True
        else:
            # Processes that persist keep the seed that they were started with.
            fresh = not self._loader.persistent_workers
        if self._sampler is not None:
            self._sampler.plan = type(self._sampler.plan)()
            self._sampler.draws_seed = fresh
            self._sampler.has_stand_in = self._stand_in.kept
        return iter(self._inner)

    def _generators(self) -> list[torch.Generator]:
        """The generators that the script gave to its loader and samplers."""
        holders: list[Any] = [self._loader, self._loader.batch_sampler]
        for holder in holders:  # a sampler may stand on another
            below = getattr(holder, "sampler", None)
            if below is not None and not any(below is known for known in holders):
                holders.append(below)
        found: list[torch.Generator] = []
        for holder in holders:
            generator = getattr(holder, "generator", None)
            known = any(generator is other for other in found)
            if isinstance(generator, torch.Generator) and not known:
                found.append(generator)
        return found

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":  # asked for by copy and pickle before there is one
            raise AttributeError(name)
        return getattr(self._loader, name)

    def sum(self, value: Any) -> Any:
        """The sum over the workers that have samples of this batch; the type is kept."""
        if CREW.size == 1:
            return value
        whole = reduce_values((value,), None if self.active else 0.0)[0]
        return linked(value, whole, float(self.active))

    def mean(self, value: Any) -> Any:
        """The mean over the samples of this batch, of means over each worker's samples."""
        if CREW.size == 1:
            return value
        whole = reduce_values((value,), self.fraction, mean=True)[0]
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
