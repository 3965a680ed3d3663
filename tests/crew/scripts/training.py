"""Trains a small network: as a sequential script, and as it is converted."""

import os
import sys

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from trainera import crew

EPOCHS = 3


def build(kind):
    if kind == "mlp":
        return nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.Tanh(), nn.Linear(16, 3))
    # No bias before a normalisation: its gradient is rounding alone, which Adam blows up.
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, bias=False),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Conv2d(4, 4, 3, bias=False),
        nn.BatchNorm2d(4, momentum=None),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(64, 8, bias=False),
        nn.BatchNorm1d(8, affine=False),
        nn.Linear(8, 3),
    )


def data():
    torch.manual_seed(7)
    torch.set_default_dtype(torch.float64)
    x = torch.randn(50, 1, 8, 8) + 3
    return TensorDataset(x, torch.randint(0, 3, (50,))), TensorDataset(
        x[:17] + 0.1, torch.arange(17) % 3
    )


def sequential(kind):
    train_set, test_set = data()
    train_loader = DataLoader(train_set, batch_size=8, shuffle=True)  # the last batch has 2
    test_loader = DataLoader(test_set, batch_size=16)  # the last batch has 1
    model = build(kind)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for _ in range(EPOCHS):
        model.train()
        running, seen = 0.0, 0
        for x, y in train_loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            running += loss.item()
            seen += len(y)
        model.eval()
        correct, total = 0, 0.0
        with torch.no_grad():
            for x, y in test_loader:
                out = model(x)
                correct += (out.argmax(1) == y).sum().item()
                total += criterion(out, y).item() * len(y)
        losses += [running, seen, correct, total]
    return losses, model.state_dict(), optimizer.state_dict()


def parallel(kind):
    crew.join()
    train_set, test_set = data()
    train_loader = crew.split(DataLoader(train_set, batch_size=8, shuffle=True))
    test_loader = crew.split(DataLoader(test_set, batch_size=16), skip_empty=True)
    model = DistributedDataParallel(crew.batchnorm(build(kind)), broadcast_buffers=False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    criterion = nn.CrossEntropyLoss()
    losses = []
    for _ in range(EPOCHS):
        model.train()
        running, seen = 0.0, 0
        for x, y in train_loader:
            loss = criterion(model(x), y)
            optimizer.zero_grad()
            (loss * train_loader.share).backward()
            optimizer.step()
            losses.append(train_loader.mean(loss.item()))
            running += loss.item() * train_loader.fraction
            seen += len(y) * train_loader.active
        running, seen = crew.sum(running, seen)
        model.eval()
        correct, total = 0, 0.0
        with torch.no_grad():
            for x, y in test_loader:
                out = model(x)
                correct += (out.argmax(1) == y).sum().item()
                total += criterion(out, y).item() * len(y)
        correct, total = crew.sum(correct, total)
        losses += [running, seen, correct, total]
    return losses, crew.bare(model).state_dict(), optimizer.state_dict()


if __name__ == "__main__":
    out = sys.argv[1]
    if "WORLD_SIZE" not in os.environ:
        torch.save({kind: sequential(kind) for kind in ("mlp", "cnn")}, f"{out}/sequential.pt")
    torch.save({kind: parallel(kind) for kind in ("mlp", "cnn")}, f"{out}/{crew.rank()}.pt")
