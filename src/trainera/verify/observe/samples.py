"""Which samples the script is given: hooks around torch's loader and the crew's passes."""

import multiprocessing
import random
import sys
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils.data import Subset, TensorDataset, default_collate
from torch.utils.data import dataloader as torch_loader
from torch.utils.data._utils import fetch as torch_fetch

from trainera.crew.state import CREW
from trainera.verify.observe.digest import row_digests, widened
from trainera.verify.observe.record import Recorder, Seen, put

_Iterator: Any = torch_loader._BaseDataLoaderIter


class Open:
    """A pass over a loader that has not ended."""

    def __init__(self, loader: int) -> None:
        self.loader = loader
        self.rows: torch.Tensor | None = None
        """A seed for each sample of the batch that was given last."""
        self.draws = 0
        """Random draws since then."""
        self.stepped = False


class Samples:
    """Notes every batch, and knows which one the script is working on."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.wide = recorder.settings.dtype == "float64"
        self._loaders = Seen()
        """The number of each loader, in the order in which they are used."""
        self.count = 0
        self._passes = Seen()
        """How often each dataset was gone through."""
        self._open: dict[int, Open] = {}
        self._within = 0
        self._reading = 0
        self.on_end_of_epoch: Any = lambda: None

    @property
    def current(self) -> Open | None:
        """The pass whose body runs: the one that gave a batch last and has not ended."""
        if self._reading:
            return None
        return next(reversed(self._open.values()), None)

    def _number_of(self, loader: Any) -> int:
        number: int | None = self._loaders.get(loader)
        if number is None:
            number = self.count
            self._loaders.put(loader, number)
            self.count += 1
        return number

    def install(self) -> None:
        """Puts the hooks in."""
        original_init, original_next = _Iterator.__init__, _Iterator.__next__
        original_index = _Iterator._next_index
        samples = self

        def begin(iterator: Any, loader: Any) -> None:
            samples._passes.put(loader.dataset, samples._passes.get(loader.dataset, 0) + 1)
            iterator._indices_seen = deque()
            original_init(iterator, loader)
            iterator._number = samples._number_of(loader)

        def next_index(iterator: Any) -> Any:
            index = original_index(iterator)
            iterator._indices_seen.append(index)
            return index

        def step(iterator: Any) -> Any:
            try:
                batch = original_next(iterator)
            except StopIteration:
                samples.ended(iterator)
                raise
            index = iterator._indices_seen.popleft() if iterator._indices_seen else None
            if samples.wide:
                batch = widened(batch)
            if not samples._within:
                # Beside the passes of a crew, every worker of it reads all.
                samples.gave(iterator, iterator._number, batch, index, of_all=CREW.size > 1)
            return batch

        put(_Iterator, "__init__", begin)
        put(_Iterator, "__next__", step)
        put(_Iterator, "_next_index", next_index)
        if self.recorder.settings.exact:
            self._make_reading_repeatable()

    def watch_crew(self) -> None:
        """Hooks into the passes of converted scripts, whose loaders read ahead of their loops."""
        from trainera.crew import passes, splitting

        original, original_whole = passes.Pass.__next__, splitting.WholeLoader.__init__
        samples = self

        def taken_whole(one: Any, loader: Any) -> None:
            original_whole(one, loader)
            if isinstance(loader, splitting.Split):  # what is taken out of it has its number
                samples._loaders.put(one._loader, samples._number_of(loader))

        def step(one: Any) -> Any:
            number = samples._number_of(one._values)
            samples._within += 1
            try:
                batch = original(one)
            except StopIteration:
                samples.ended(one)
                raise
            finally:
                samples._within -= 1
            entry = CREW.open.get(id(one))
            if entry is not None and entry.mine == 0:
                samples.idle(one, number)
            else:
                samples.gave(one, number, batch, None)
            return batch

        # The first step looks at who called it, which must be the script's own loop.
        def guarded(one: Any) -> Any:
            if not one._opened and not one._closed:
                one._open(sys._getframe(1))
            # Batches of the script's own code are seen nowhere in the sequential run.
            return step(one) if isinstance(one._values, splitting.Split) else original(one)

        put(passes.Pass, "__next__", guarded)
        put(splitting.WholeLoader, "__init__", taken_whole)

    def _latest(self, iterator: Any, loader: int) -> Open:
        """The pass of this iterator, now the current one; it ends at the latest with it."""
        key = id(iterator)
        one = self._open.pop(key, None)
        if one is None:
            one = Open(loader)
            weakref.finalize(iterator, self._open.pop, key, None).atexit = False
        self._open[key] = one
        return one

    def gave(
        self, iterator: Any, loader: int, batch: Any, index: Any, *, of_all: bool = False
    ) -> None:
        """The script was given a batch; perhaps every worker the same."""
        one = self._latest(iterator, loader)
        with torch._C.DisableTorchFunction():
            digests = row_digests(batch)
            one.rows = torch.tensor(digests, dtype=torch.int64) if digests else None
        one.draws = 0
        event: dict[str, Any] = {"l": one.loader, "d": digests}
        if of_all:
            event["all"] = True
        if isinstance(index, list) and all(type(item) is int for item in index):
            event["i"] = places_in(getattr(iterator, "_dataset", None), index)
        self.recorder.write("batch", **event)

    def idle(self, iterator: Any, loader: int) -> None:
        """This worker has no sample of the batch and computes with a stand-in that has no say."""
        one = self._latest(iterator, loader)
        one.rows, one.draws = None, 0
        self.recorder.write("idle", l=one.loader)

    def ended(self, iterator: Any) -> None:
        """A pass came to its end."""
        one = self._open.pop(id(iterator), None)
        if one is None:
            return
        self.recorder.write("end", l=one.loader)
        if one.stepped:
            self.on_end_of_epoch()

    def _make_reading_repeatable(self) -> None:
        """Augmentation draws by pass and index, not by who reads the sample and when.

        Nor does what is drawn for the next batch have to do with the samples of the present one.
        """
        fetcher: Any = torch_fetch._MapDatasetFetcher
        original_init, original_fetch = fetcher.__init__, fetcher.fetch
        samples = self
        created = 0

        def begin(one: Any, dataset: Any, *args: Any, **kwargs: Any) -> None:
            nonlocal created
            original_init(one, dataset, *args, **kwargs)
            # A loader process that persists makes a new fetcher for each pass.
            later = created if multiprocessing.parent_process() is not None else 0
            created += 1
            one._pass = samples._passes.get(dataset, 1) + later
            one._draws = not _never_draws(dataset, one.collate_fn)

        def fetch(one: Any, indices: Any) -> Any:
            if not one._draws or not one.auto_collation:
                return original_fetch(one, indices)
            with samples.reading(), Streams() as streams:
                items = []
                for index in indices:
                    streams.seed(hash((samples.recorder.settings.seed, one._pass, index)))
                    if getattr(one.dataset, "__getitems__", None):
                        items += one.dataset.__getitems__([index])
                    else:
                        items.append(one.dataset[index])
            return one.collate_fn(items)

        put(fetcher, "__init__", begin)
        put(fetcher, "fetch", fetch)
        iterable: Any = torch_fetch._IterableDatasetFetcher
        original_stream = iterable.fetch

        def fetch_on(one: Any, indices: Any) -> Any:
            with samples.reading():
                return original_stream(one, indices)

        put(iterable, "fetch", fetch_on)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """While the next batch is read, no batch is being worked on."""
        self._reading += 1
        try:
            yield
        finally:
            self._reading -= 1


def places_in(dataset: Any, indices: list[int]) -> list[int]:
    """Where the samples are in the dataset that lies below all subsets of it."""
    while isinstance(dataset, Subset):
        indices = [int(dataset.indices[index]) for index in indices]
        dataset = dataset.dataset
    return indices


def _never_draws(dataset: Any, collate: Any) -> bool:
    while type(dataset) is Subset:
        dataset = dataset.dataset
    return type(dataset) is TensorDataset and collate is default_collate


class Streams:
    """The three random streams of a process, put back afterwards as they were."""

    def __enter__(self) -> "Streams":
        self._torch = torch.default_generator.get_state()
        self._python = random.getstate()
        self._numpy = sys.modules.get("numpy.random")
        if self._numpy is not None:
            self._numpy_state = self._numpy.get_state()
        return self

    def seed(self, number: int) -> None:
        """Begins all three anew."""
        number &= 2**62 - 1
        torch.default_generator.manual_seed(number)
        random.seed(number)
        if self._numpy is not None:
            self._numpy.seed(number % 2**32)

    def __exit__(self, *_: object) -> None:
        torch.default_generator.set_state(self._torch)
        random.setstate(self._python)
        if self._numpy is not None:
            self._numpy.set_state(self._numpy_state)
