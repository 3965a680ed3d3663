"""Collectives of workers on one machine. Which part is run is the second argument.

python collectives.py FOLDER all|apart|gone|blind
"""

import json
import os
import random
import sys
import time
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from trainera import crew
from trainera.crew import memory
from trainera.crew.transport import TRANSPORT

folder, part = Path(sys.argv[1]), sys.argv[2]
if part == "blind" and os.environ["RANK"] == "1":

    def find_nothing(store):
        raise PermissionError("/proc is hidden")

    memory.find_file = find_nothing
crew.join()
rank, size = crew.rank(), crew.size()
# Small, as large as what is added up by all, more than a place has room for, and none.
COUNTS = (0, 1, 7, 4096, 5000, 300_000)
TYPES = (torch.float64, torch.float32, torch.float16, torch.int64, torch.bool, torch.complex64)


def value(count, kind, worker):
    """What a worker has; of whole numbers, so that every sum is exact."""
    numbers = torch.arange(count) % 7 + worker
    return numbers.bool() if kind == torch.bool else numbers.to(kind)


def same(one, other):
    assert one.dtype == other.dtype and torch.equal(one, other), (one, other)


def check_tensor(count, kind):
    each = [value(count, kind, worker) for worker in range(size)]
    mine = each[rank].clone()
    received = [torch.empty_like(mine) for _ in range(size)]
    dist.all_gather(received, mine)
    for one, other in zip(received, each, strict=True):
        same(one, other)
    dist.broadcast(mine, size - 1)
    same(mine, each[-1])
    if kind != torch.bool:
        mine = each[rank].clone()
        dist.all_reduce(mine)
        same(mine, torch.stack(each).sum(dim=0, dtype=kind))


def check_layouts():
    for shape in ((3, 5), (700, 900)):
        turned = torch.full(shape, float(rank)).t()
        dist.all_reduce(turned)
        same(turned, torch.full(shape, sum(range(size)) * 1.0).t())
        turned = torch.full(shape, rank + 1j).t()
        dist.broadcast(turned, 1)
        same(turned, torch.full(shape, 1 + 1j).t())
    weight = nn.Parameter(torch.full((3,), float(rank)))
    TRANSPORT.broadcast(weight)
    same(weight.detach(), torch.zeros(3))


def check_sparse():
    model = DistributedDataParallel(nn.Embedding(6, 2, sparse=True))
    for _ in range(2):
        model(torch.tensor([rank, rank, 5])).sum().backward()
    found = model.module.weight.grad.to_dense()[:, 0]
    wanted = torch.zeros(6)
    wanted[:size] = 4 / size
    wanted[5] += 2
    torch.testing.assert_close(found, wanted)


def check_order(steps):
    """Workers that are late by turns: nothing is overwritten before all have read it."""
    dice = random.Random(rank)
    choices = random.Random(0)
    for step in range(steps):
        if dice.random() < 0.05:
            time.sleep(dice.random() * 0.005)
        tensor = torch.full((choices.choice([1, 100, 9000, 400_000]),), step * size + rank)
        which = choices.randrange(3)
        if which == 0:
            TRANSPORT.add_up(tensor)
            assert bool((tensor == sum(step * size + other for other in range(size))).all())
        elif which == 1:
            TRANSPORT.broadcast(tensor)
            assert bool((tensor == step * size).all())
        else:
            for other, received in enumerate(TRANSPORT.gather(tensor)):
                assert bool((received == step * size + other).all())


report = {"backend": dist.get_backend(), "by": type(TRANSPORT.by).__name__}
if part in ("all", "blind"):
    for count in COUNTS:
        for kind in TYPES:
            check_tensor(count, kind)
    check_layouts()
    check_sparse()
    dist.barrier()
    check_order(400)
    report["shared"] = sorted(path.name for path in Path("/dev/shm").iterdir())
elif part == "apart":
    numbers = torch.zeros(3 + rank)
    TRANSPORT.add_up(numbers)
elif part == "gone":
    if rank == 1:
        os._exit(7)
    TRANSPORT.add_up(torch.zeros(3))
(folder / f"{rank}.json").write_text(json.dumps(report))
