"""Ways to step through loaders. Run by three workers; every check is an assert."""

import random
from collections import namedtuple
from dataclasses import dataclass

import numpy
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset

from trainera import crew

crew.join()
RANK, SIZE = crew.rank(), crew.size()
Pair = namedtuple("Pair", "left right")


def gathered(value):
    import torch.distributed as dist

    values = [None] * SIZE
    dist.all_gather_object(values, value)
    return values


def same(value):
    values = gathered(value)
    assert all(each == values[0] for each in values), values


class Counted(Dataset):
    """Counts how often each sample is read, in whichever process."""

    def __init__(self, size):
        self.counts = torch.zeros(size, dtype=torch.int64).share_memory_()

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, index):
        self.counts[index] += 1
        return torch.tensor([index], dtype=torch.float64), str(index)


def check_counts():
    torch.manual_seed(0)
    cases = (
        {},
        {"num_workers": 2},
        {"pin_memory": True},
        {"num_workers": 2, "persistent_workers": True, "pin_memory": True},
    )
    for options in cases:
        dataset = Counted(20)
        loader = crew.split(DataLoader(dataset, batch_size=6, shuffle=True, **options))
        assert len(loader) == 4 and loader.batch_size == 6 and loader.dataset is dataset
        for _ in range(3):
            seen = []
            for x, names in loader:
                assert [str(int(each)) for each in x] == list(names)
                if loader.active:
                    seen += x.flatten().tolist()
                assert loader.active == (loader.share > 0) == (loader.parts == SIZE)
            rows = sorted(row for part in gathered(seen) for row in part)
            assert rows == list(range(20)), rows
        total = crew.sum(dataset.counts)
        assert total.tolist() == [3] * 20, (options, total)


def check_values():
    data = TensorDataset(torch.arange(11.0))
    loader = crew.split(DataLoader(data, batch_size=9))
    uneven = [len(x) for (x,) in loader]  # to see which sizes follow the number of samples
    assert uneven[0] == (4, 3, 2)[RANK], uneven
    shares = []
    for (x,) in loader:
        assert crew.current() is loader
        shares.append((len(x) * loader.active, loader.share, loader.fraction, loader.parts))
    full = (3, 1.0, 1 / 3, 3)
    # Two rows stay together: nobody gets a single one where there are more.
    ragged = (2, 3.0, 1.0, 3) if RANK == 0 else (0, 0.0, 0.0, 0)
    assert shares == [full, ragged], shares
    assert loader.active == (RANK == 0)
    assert crew.current() is loader


def check_skip_empty():
    loader = crew.split(
        DataLoader(TensorDataset(torch.arange(11.0)), batch_size=9), skip_empty=True
    )
    steps = sum(1 for _ in loader)
    assert steps == (2 if RANK == 0 else 1)
    # Batches that are all smaller than the crew are no use, but right.
    loader = crew.split(DataLoader(TensorDataset(torch.arange(5.0)), batch_size=1), skip_empty=True)
    total = sum(x.item() for (x,) in loader)
    assert crew.sum(total) == 10.0


def check_more_workers_than_samples():
    loader = crew.split(DataLoader(TensorDataset(torch.arange(5.0)), batch_size=2))
    said = []
    for _ in loader:
        try:
            said.append(loader.share)
        except SystemExit as error:
            assert "3 workers share batches of 2 samples" in str(error), error
            assert "at most 2 workers" in str(error), error
            break
    assert len(said) == 1  # at the second batch it is known that the first was not the last
    # The whole dataset in one small batch: the idle worker takes part at weight 0.
    dataset = Counted(2)
    loader = crew.split(DataLoader(dataset, batch_size=5))
    for _ in range(2):
        steps = [(len(x), loader.active) for x, _ in loader]
        assert steps == [(2, RANK == 0)], steps
    assert crew.sum(dataset.counts).tolist() == [4, 4]  # the very first stand-ins were read


def check_stand_in_is_not_read():
    dataset = Counted(8)
    collate = {"list": list, "dict": lambda rows: {"x": torch.cat([r[0] for r in rows]), "n": 3}}
    for name in collate:
        dataset.counts.zero_()
        loader = crew.split(DataLoader(dataset, batch_size=6, collate_fn=collate[name]))
        for epoch in range(2):
            for batch in loader:
                if name == "dict":
                    assert batch.pop("x") is not None, epoch  # may be taken apart
        assert crew.sum(dataset.counts).tolist() == [2] * 8


def check_streams():
    """With streams of their own dropout differs, orders do not, and later all is shared again."""
    crew.own_random_numbers()
    torch.manual_seed(3)
    data = TensorDataset(torch.arange(24.0))
    loader = crew.split(DataLoader(data, batch_size=6, shuffle=True))
    other = crew.split(DataLoader(data, batch_size=6, shuffle=True))
    before = torch.get_rng_state()
    drawn, shared = [], []
    for _ in loader:
        drawn.append(torch.rand(RANK + 1)[0].item())  # unequal amounts, too
        shared.append((random.random(), numpy.random.rand()))
        for i, _ in enumerate(other):  # nested, left early
            assert crew.current() is other
            drawn.append(torch.rand(1).item())
            if i == 1:
                break
        assert crew.current() is loader
        drawn.append(nn.functional.dropout(torch.ones(50)).sum().item())
    same(shared)
    values = gathered(drawn)
    assert len({tuple(each) for each in values}) == SIZE
    after = torch.rand(4).tolist()
    same(after)
    # As if the bodies had drawn nothing.
    torch.set_rng_state(before)
    for _ in loader:
        for i, _ in enumerate(other):
            if i == 1:
                break
    assert torch.rand(4).tolist() == after
    # Own streams go on, they do not start again.
    torch.set_rng_state(before)
    again = [torch.rand(1).item() for _ in loader]
    assert again[0] != drawn[0]


def check_ends():
    """Break, exceptions and abandoned iterators."""
    data = TensorDataset(torch.arange(24.0))
    loader = crew.split(DataLoader(data, batch_size=6, shuffle=True))
    torch.manual_seed(4)

    def left_by_exception():
        for _ in loader:
            torch.rand(RANK + 1)
            raise KeyError

    try:
        left_by_exception()
    except KeyError:
        same(torch.rand(3).tolist())
    for _ in loader:
        torch.rand(RANK + 1)
        break
    same(torch.rand(3).tolist())
    # One look at a batch is no loop: what is built next is built from the shared stream.
    torch.manual_seed(4)
    iterator = iter(loader)
    first = next(iterator)[0]
    weights = torch.rand(3).tolist()
    same(weights)
    torch.manual_seed(4)
    plain = iter(DataLoader(data, batch_size=6, shuffle=True))
    assert loader.gather(first).tolist() == next(plain)[0].tolist()
    assert torch.rand(3).tolist() == weights
    # A loop by hand, with restarts.
    seen = []
    draws = []
    iterator = iter(loader)
    for _ in range(10):
        try:
            (x,) = next(iterator)
        except StopIteration:
            iterator = iter(loader)
            (x,) = next(iterator)
        draws.append(torch.rand(RANK + 1)[0].item())
        seen.append(loader.gather(x).tolist())
    same(seen)
    assert sorted(v for batch in seen[:4] for v in batch) == list(range(24))
    assert sorted(v for batch in seen[4:8] for v in batch) == list(range(24))
    assert len({tuple(each) for each in gathered(draws)}) == SIZE
    del iterator
    same(torch.rand(3).tolist())


def check_zip():
    a = crew.split(DataLoader(TensorDataset(torch.arange(24.0)), batch_size=6, shuffle=True))
    b = crew.split(DataLoader(TensorDataset(torch.arange(30.0)), batch_size=10, shuffle=True))
    pairs = []
    for (x,), (y,) in zip(a, b, strict=False):
        torch.rand(RANK + 1)
        assert len(x) == 2 and a.share == 1.0
        assert b.share == (4 if RANK == 0 else 3) * 3 / 10
        pairs.append((a.gather(x).tolist(), b.gather(y).tolist()))
    assert len(pairs) == 3
    same(pairs)
    same(torch.rand(2).tolist())
    # The same loader inside itself: the outer loop gets its values back.
    loader = crew.split(DataLoader(TensorDataset(torch.arange(11.0)), batch_size=9))
    for _ in loader:
        outer = loader.share
        for _ in loader:
            pass
        assert loader.share == outer


class Stream(IterableDataset):
    def __iter__(self):
        for i in range(11):
            yield {
                "x": torch.tensor([float(i), random.random(), torch.rand(()).item()]),
                "s": f"{i}",
            }


@dataclass
class Batch:
    x: torch.Tensor
    lengths: list


def check_whole():
    """Batches that are collated first, then cut."""
    torch.manual_seed(5)
    for options in ({}, {"num_workers": 1}):
        loader = crew.split(DataLoader(Stream(), batch_size=6, **options))
        sizes = []
        for batch in loader:
            torch.rand(RANK + 1)
            assert len(batch["s"]) == len(batch["x"])
            sizes.append(loader.gather(batch["x"])[:, 0].tolist())
            assert loader.gather(batch["s"]) == [str(int(i)) for i in sizes[-1]]
        assert [i for part in sizes for i in part] == list(range(11))
    data = Counted(11)

    def collate(rows):
        x = torch.cat([row[0] for row in rows])
        return Pair(Batch(x - x.max(), [row[1] for row in rows]), [{"k": numpy.array(x)}, 5, None])

    loader = crew.split(DataLoader(data, batch_size=7, collate_fn=collate), collate_first=True)
    expected = [collate([data[i] for i in part]) for part in (range(7), range(7, 11))]
    for batch, whole in zip(loader, expected, strict=True):
        assert type(batch) is Pair and type(batch.left) is Batch
        assert loader.gather(batch.left.x).tolist() == whole.left.x.tolist()
        assert loader.gather(batch.left.lengths) == whole.left.lengths
        assert loader.gather(batch.right[0]["k"]).tolist() == whole.right[0]["k"].tolist()
        assert batch.right[1:] == [5, None]
    # Batches made by the dataset itself.
    blocks = TensorDataset(torch.arange(20.0).reshape(4, 5))
    loader = crew.split(DataLoader(blocks, batch_size=None, shuffle=True))
    rows = [loader.gather(block[0]).tolist() for block in loader]
    assert sorted(rows) == torch.arange(20.0).reshape(4, 5).tolist()
    bad = crew.split(
        DataLoader(data, batch_size=7, collate_fn=lambda rows: {"m": torch.zeros(3, 7)}),
        collate_first=True,
    )
    try:
        next(iter(bad))
        raise AssertionError("not refused")
    except ValueError as error:
        assert "batch['m']" in str(error) and "(3, 7)" in str(error), error


class Augmented(Dataset):
    """Its samples are noise of each of the three sources."""

    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.rand(()).item(), random.random(), float(numpy.random.rand())


def check_augmentation():
    """No two workers read the same random numbers, whoever reads the samples."""
    for options in ({}, {"num_workers": 2}):
        loader = crew.split(DataLoader(Augmented(), batch_size=6, **options))
        for _ in range(2):
            rows = [[column.tolist() for column in batch] for batch in loader]
            flat = [v for part in gathered(rows) for batch in part for c in batch for v in c]
            assert len(flat) == 36 and len(set(flat)) == 36, options


def check_order_is_watched():
    class Secret:
        def __iter__(self):
            return iter(numpy.random.default_rng(RANK).permutation(12).tolist())

        def __len__(self):
            return 12

    loader = crew.split(DataLoader(Counted(12), batch_size=6, sampler=Secret()))
    for _ in loader:
        pass
    failed = False
    try:
        for _ in loader:
            pass
    except RuntimeError as error:
        failed = "did not see the same samples" in str(error)
    assert failed == (RANK > 0)


check_counts()
check_values()
check_skip_empty()
check_more_workers_than_samples()
check_stand_in_is_not_read()
check_streams()
check_ends()
check_zip()
check_whole()
check_augmentation()
check_order_is_watched()
print("all checked")
