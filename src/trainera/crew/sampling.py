"""The script's own batch sampler, seen through one worker's window, and loaders that read by it."""

import warnings
from collections import deque
from collections.abc import Iterator, Sized
from typing import Any, NamedTuple

import torch
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset, default_collate

from trainera.crew.dealing import Dealer
from trainera.crew.shares import FEWEST_ROWS
from trainera.crew.state import CREW
from trainera.crew.streams import STREAMS, mixed_seed


class Planned(NamedTuple):
    """A step that the sampler has announced; its data may still be on the way."""

    whole: int
    mine: int
    fetched: bool
    order: int
    start: int = 0
    unequal: bool = False
    some_idle: bool = False


class SliceSampler:
    """Yields this worker's slice of every batch of indices that the script's sampler yields.

    The loader that reads the slices is torch's own. It asks for the iterator of its sampler and
    for a base seed in a certain order, and with loader processes it asks for the iterator twice.
    Wrapping the sampler inherits all of that, so that random numbers are used up as ever.
    """

    def __init__(self, sampler: Any, generator: torch.Generator | None, slices: bool) -> None:
        self.sampler = sampler
        self.generator = generator
        self.slices = slices
        self.dealer = Dealer()
        self.inner_generator = torch.Generator() if slices else generator
        self.plan: deque[Planned] = deque()
        self.draws_seed = False
        self.fetches_here = False
        self.skips_idle = False
        self.has_stand_in = False

    def __iter__(self) -> "SliceIterator":
        iterator = SliceIterator(self, iter(self.sampler))
        if self.draws_seed and self.slices:
            # The draw that torch's loader makes here for the seeds of its processes. They get a
            # seed of their own on each worker, or all would augment alike.
            self.draws_seed = False
            drawn = torch.empty((), dtype=torch.int64).random_(generator=self.generator).item()
            assert self.inner_generator is not None
            self.inner_generator.manual_seed(mixed_seed(str(drawn).encode(), "loader"))
        return iterator

    def __len__(self) -> int:
        assert isinstance(self.sampler, Sized)
        return len(self.sampler)


class Together:
    """A batch sampler that puts several batches of another into one."""

    def __init__(self, sampler: Any, count: int) -> None:
        self.sampler = sampler  # where a script's sampler and its generator are looked for
        self.count = count

    def __iter__(self) -> Iterator[list[Any]]:
        held: list[Any] = []
        batches = 0
        for batch in self.sampler:
            held.extend(batch)
            batches += 1
            if batches == self.count:
                yield held
                held, batches = [], 0
        if batches:
            yield held

    def __len__(self) -> int:
        return -(-len(self.sampler) // self.count)


class SliceIterator:
    """One run of the sampler; it notes each step in the plan of the pass."""

    def __init__(self, owner: SliceSampler, indices: Iterator[Any]) -> None:
        self.owner = owner
        self.indices = indices
        self.plan = owner.plan

    def __iter__(self) -> "SliceIterator":
        return self

    def __next__(self) -> Any:
        held_own = STREAMS.to_shared()
        try:
            found = self._draw()
        finally:
            STREAMS.back(held_own)
        if self.owner.fetches_here:
            STREAMS.enter_fetch()
        return found

    def _draw(self) -> Any:
        owner = self.owner
        while True:
            batch = next(self.indices)
            if not hasattr(batch, "__len__"):
                batch = list(batch)
            count = len(batch)
            order = order_hash(batch)
            if not owner.slices:
                self.plan.append(Planned(count, count, True, order))
                return batch
            start, stop, unequal, some_idle = owner.dealer.deal(count, may_idle=False)
            mine = stop - start
            # Without a share a worker reads others' rows, to stay in step with the sampler; not of
            # a batch that is too short for all, of which no sample is to be read twice.
            short = owner.has_stand_in and count < FEWEST_ROWS * CREW.size
            reads = mine > 0 or not (owner.skips_idle or short)
            self.plan.append(Planned(count, mine, reads, order, start, unequal, some_idle))
            if reads:
                owner.has_stand_in = True
                return batch[start:stop] if mine else batch[:2]
            # Nothing to read: the loader is not told of this step at all.


def order_hash(batch: Any) -> int:
    """A hash of the indices of a batch that is the same in every process."""
    try:
        first = batch[0]
    except Exception:  # an empty batch, or one of a type of its own
        return 0
    # Only whole numbers hash alike in all processes.
    return hash(tuple(batch)) if hasattr(first, "__index__") and is_number(first) else len(batch)


def is_number(value: Any) -> bool:
    """A whole number of Python or numpy; a tensor hashes by its address."""
    return not isinstance(value, torch.Tensor)


def reading(loader: DataLoader[Any], sampler: Any, generator: Any) -> DataLoader[Any]:
    """A loader like the script's that reads what the sampler says."""
    with warnings.catch_warnings():
        # What there is to warn about was said when the script built its own.
        warnings.simplefilter("ignore")
        return DataLoader(
            loader.dataset,
            batch_sampler=sampler,
            num_workers=loader.num_workers,
            collate_fn=loader.collate_fn,
            pin_memory=loader.pin_memory,
            timeout=loader.timeout,
            worker_init_fn=loader.worker_init_fn,
            multiprocessing_context=loader.multiprocessing_context,
            generator=generator,
            prefetch_factor=loader.prefetch_factor if loader.num_workers else None,
            persistent_workers=loader.persistent_workers,
            pin_memory_device=loader.pin_memory_device,
        )


def grown(loader: DataLoader[Any]) -> DataLoader[Any]:
    """The loader with batches that hold one of its own for each worker."""
    if CREW.size == 1:
        return loader
    if loader.batch_sampler is None or isinstance(loader.dataset, IterableDataset):
        raise SystemExit(
            "trainera: --batch per-worker needs a loader that makes batches of indices: convert "
            "this script with the global batch, or give it a dataset with a length"
        )
    larger = reading(loader, Together(loader.batch_sampler, CREW.size), loader.generator)
    if loader.batch_size is not None:  # for a script that asks; torch lets nobody set it
        vars(larger)["batch_size"] = loader.batch_size * CREW.size
    return larger


def never_draws(loader: DataLoader[Any]) -> bool:
    """Whether reading a batch cannot draw a random number; it then needs no streams of its own."""
    dataset: Any = loader.dataset
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return type(dataset) is TensorDataset and loader.collate_fn is default_collate
