"""A small project to convert, and the shapes that the tests of the command line share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SCRIPT = """\
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=1)
args = parser.parse_args()

torch.manual_seed(0)
features = torch.randn(40, 3)
targets = features.sum(1, keepdim=True)
loader = DataLoader(TensorDataset(features, targets), batch_size=8, shuffle=True)
model = nn.Linear(3, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for epoch in range(args.epochs):
    running = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"epoch {epoch} loss {running / len(loader):.4f}")
"""

REFUSED = SCRIPT.replace(
    "import torch\n", "import torch\nimport torch.distributed as dist\n", 1
).replace("torch.manual_seed(0)", 'dist.init_process_group("gloo")')
"""Distributed by hand already: nothing that a tool may lay hands on."""

MODULE = """\
from torch.utils.data import DataLoader, TensorDataset


def make_loader(features, targets):
    return DataLoader(TensorDataset(features, targets), batch_size=8, shuffle=True)
"""
UNCHANGED = """\
from torch import nn


def make_model():
    return nn.Linear(3, 1)
"""
ENTRY = (
    SCRIPT.replace("from torch.utils.data import DataLoader, TensorDataset\n", "")
    .replace("from torch import nn\n", "from torch import nn\n\nimport loaders\nimport models\n")
    .replace(
        "DataLoader(TensorDataset(features, targets), batch_size=8, shuffle=True)",
        "loaders.make_loader(features, targets)",
    )
    .replace("nn.Linear(3, 1)", "models.make_model()")
)


@dataclass(frozen=True, kw_only=True)
class Result:
    status: int
    stdout: str
    stderr: str


Trainera = Callable[..., Result]


def names(directory: str = ".") -> list[str]:
    """What stands in a directory."""
    return sorted(path.name for path in Path(directory).iterdir())
