"""Splitting a loader: every worker gets its slice of every batch."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, IterableDataset, IterDataPipe

from trainera.crew.layouts import LAYOUTS
from trainera.crew.own_batches import OwnBatches
from trainera.crew.passes import Pass
from trainera.crew.rows import Cutter
from trainera.crew.sampling import SliceSampler, grown, never_draws, reading
from trainera.crew.sharing import Shared
from trainera.crew.state import CREW
from trainera.crew.streams import STREAMS


def split(
    loader: Any,
    *,
    skip_empty: bool = False,
    collate_first: bool = False,
    watch_lists: bool = False,
    per_worker: bool = False,
) -> Shared:
    """The loader, or what else gives batches, sharing every batch among the workers.

    skip_empty: a worker without a sample of a batch skips the step, instead of computing with a
    stand-in at weight 0. Right where nothing in the loop waits for the other workers.
    collate_first: collate the whole batch, then cut; for a collate_fn that looks across samples.
    watch_lists: fields that are lists must not be joined or repeated, which differs for slices.
    per_worker: a step takes as many of the loader's batches as there are workers.
    """
    if isinstance(loader, Split | OwnBatches):
        return loader
    if not isinstance(loader, DataLoader):
        return OwnBatches(loader, skip_empty, watch_lists)
    grows = grown(loader) if per_worker else loader
    return Split(grows, skip_empty, collate_first, watch_lists)


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
        if not CREW.alone:  # what the first worker alone reads is drawn as in one process anyway
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

    def __next__(self) -> Any:
        """The next batch of a generator of the script's."""
        generator: Any = self._loader
        held_own = STREAMS.to_shared()
        try:
            return next(generator)
        finally:
            STREAMS.back(held_own)

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        if name == "_loader":  # asked for by copy and pickle before there is one
            raise AttributeError(name)
        return getattr(self._loader, name)


class Split(Shared):
    """A loader whose batches are shared; all else is as the loader it was made of."""

    def __init__(
        self, loader: DataLoader[Any], skip_empty: bool, collate_first: bool, watch_lists: bool
    ) -> None:
        super().__init__()
        self._loader = loader
        self._skip_empty = self._dealer.all_work = skip_empty
        self._watches_lists = watch_lists
        self._inner: DataLoader[Any] | None = None
        self._sampler: SliceSampler | None = None
        self._cutter: Cutter | None = None
        if CREW.size == 1:
            return
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
            self._sampler.dealer = self._dealer

    def __iter__(self) -> Iterator[Any]:
        if CREW.size == 1:
            CREW.last = self
            return iter(self._loader)
        STREAMS.synchronise(self._generators())
        self._dealer.begin(LAYOUTS.guesses)
        held_own = STREAMS.to_shared()
        try:
            steps = self._begin()
        finally:
            STREAMS.back(held_own)
        return Pass(
            self, steps, self._sampler, self._cutter, self._stand_in, self._skip_empty, self._dealer
        )

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
