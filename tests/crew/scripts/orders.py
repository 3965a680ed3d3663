"""Which samples each step sees, and where the random streams are afterwards, sampler by sampler."""

import random
import sys

import numpy
import torch
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    RandomSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
    random_split,
)

from trainera import crew

SIZE = 23


class Numbers(Dataset):
    """Draws from all three sources when a sample is read, as an augmentation would."""

    def __len__(self):
        return SIZE

    def __getitem__(self, index):
        if crew.size() > 1:  # in the sequential run this would move the one stream there is
            torch.rand(2), random.random(), numpy.random.rand(), numpy.random.randn()
        return int(index)


class EagerShuffle:
    """Draws when asked for its iterator, which torch's loader does twice with processes."""

    def __iter__(self):
        return iter(torch.randperm(SIZE).tolist())

    def __len__(self):
        return SIZE


class Mixed:
    """Draws from all sources at every step."""

    def __iter__(self):
        for _ in range(SIZE):
            drawn = random.random() + numpy.random.rand() + numpy.random.randn() + torch.rand(())
            yield int(drawn * 1000) % SIZE

    def __len__(self):
        return SIZE


class Buckets:
    """A batch sampler with batches of different sizes, one smaller than the crew."""

    def __iter__(self):
        order = numpy.random.permutation(SIZE)
        random.shuffle(order)
        for start, stop in ((0, 9), (9, 11), (11, 19), (19, 23)):
            yield order[start:stop]

    def __len__(self):
        return 4


def loaders():
    numbers = Numbers()
    options = {"batch_size": 7}
    yield "plain", DataLoader(numbers, **options)
    yield "shuffle", DataLoader(numbers, shuffle=True, **options)
    yield "drop_last", DataLoader(numbers, shuffle=True, drop_last=True, **options)
    yield "tensors", DataLoader(TensorDataset(torch.arange(SIZE)), shuffle=True, **options)
    weights = torch.linspace(0.1, 1, SIZE)
    yield "weighted", DataLoader(numbers, sampler=WeightedRandomSampler(weights, 30), **options)
    yield "subset", DataLoader(numbers, sampler=SubsetRandomSampler(range(3, 20)), **options)
    replacing = RandomSampler(numbers, replacement=True, num_samples=70)
    yield "replacement", DataLoader(numbers, sampler=replacing, **options)
    yield "eager", DataLoader(numbers, sampler=EagerShuffle(), **options)
    yield "mixed", DataLoader(numbers, sampler=Mixed(), **options)
    yield "buckets", DataLoader(numbers, batch_sampler=Buckets())
    generator = torch.Generator().manual_seed(3)
    yield "generator", DataLoader(numbers, shuffle=True, generator=generator, **options)
    # One that nobody seeded follows the first worker's.
    unseeded = torch.Generator()
    unseeded.manual_seed(5 if crew.rank() == 0 else 1000 + crew.rank())
    batches = BatchSampler(RandomSampler(numbers, generator=unseeded), 7, False)
    yield "unseeded generator", DataLoader(numbers, batch_sampler=batches)
    part, _ = random_split(numbers, [18, 5])
    yield "random_split", DataLoader(part, shuffle=True, **options)
    options["num_workers"] = 2
    yield "processes", DataLoader(numbers, shuffle=True, **options)
    yield "processes, eager", DataLoader(numbers, sampler=EagerShuffle(), **options)
    yield "processes, mixed", DataLoader(numbers, sampler=Mixed(), prefetch_factor=1, **options)
    options["persistent_workers"] = True
    yield "persistent", DataLoader(numbers, shuffle=True, **options)
    yield "persistent, eager", DataLoader(numbers, sampler=EagerShuffle(), **options)


def run(wrap):
    results = {}
    for name, loader in loaders():
        steps = []
        loader = wrap(loader)
        for _ in range(3):
            for batch in loader:
                if isinstance(batch, list):
                    batch = batch[0]
                rows = batch.tolist() if getattr(loader, "active", True) else []
                # The body shares Python's and numpy's numbers with the other workers.
                steps.append((rows, random.random(), numpy.random.rand(), numpy.random.randn()))
            # What comes after the pass must find the streams where it would.
            steps.append(([], torch.rand(()).item(), random.random(), numpy.random.randn()))
        results[name] = steps
        del loader
    return results


def seeded(wrap, name):
    torch.manual_seed(1)
    random.seed(1)
    numpy.random.seed(1)
    torch.save(run(wrap), f"{sys.argv[1]}/{name}.pt")


if __name__ == "__main__":
    crew.join()
    if crew.size() == 1:
        seeded(lambda loader: loader, "sequential")
    seeded(crew.split, crew.rank())
