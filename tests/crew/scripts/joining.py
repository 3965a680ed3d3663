"""What joining does. Run alone and by two workers, without any seed; prints what it finds."""

import contextlib
import json
import logging
import random
import sys
import warnings
from pathlib import Path

import numpy
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset, random_split

from trainera import crew

logging.basicConfig()  # a handler that holds the real stderr


def listening():
    """The listening TCP sockets of this process."""
    mine = set()
    for entry in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            mine.add(str(entry.readlink()))
    found = []
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                found.append(fields[1])
    return found


crew.join()
crew.join()
model = DistributedDataParallel(nn.Linear(3, 2))
model(torch.ones(1, 3)).sum().backward()
dist.barrier()
first, second = random_split(range(50), [30, 20])
loader = crew.split(DataLoader(TensorDataset(torch.arange(6)), batch_size=4))
for (x,) in loader:
    shares = (loader.share, loader.fraction, loader.parts, loader.active)
    assert crew.size() > 1 or (shares == (1.0, 1.0, 1, True) and loader.gather(x) is not None)
assert len(loader) == 2 and crew.current() is loader
report = {
    "rank": crew.rank(),
    "size": crew.size(),
    "threads": torch.get_num_threads(),
    "listening": listening(),
    "drawn": [list(second.indices), random.random(), numpy.random.rand()],
    "weight": model.module.weight.tolist(),
    "sum": crew.sum(1, 2.0),
    "once": crew.once(lambda: "first") or "nobody",
    "in_turn": crew.in_turn(lambda: 3),
    "agree": crew.agree(crew.rank()),
}
Path(sys.argv[1], f"{crew.rank()}.json").write_text(json.dumps(report))
print("printed")
print("complained", file=sys.stderr)
warnings.warn("warned", stacklevel=1)
logging.getLogger("some").error("logged")
if "--fail" in sys.argv and crew.rank() == crew.size() - 1:
    raise KeyError("the last worker fails")
if "--fail" in sys.argv:
    crew.agree(1)
    crew.sum(1)
