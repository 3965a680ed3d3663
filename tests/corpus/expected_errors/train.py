"""Expects exceptions: folders that are there already, files that are not, one of its own."""

import errno
import os
import shutil

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(5)


class TooOften(Exception):
    def __init__(self, path, times):
        super().__init__(f"{path} was saved {times} times")
        self.times = times


class Saver:
    def __init__(self, limit):
        self.limit, self.times = limit, 0

    def save(self, state, path):
        self.times += 1
        if self.times > self.limit:
            raise TooOften(path, self.times)
        torch.save(state, path)


for folder in ("out", "out/images"):
    try:
        os.makedirs(folder)
    except OSError:
        pass
try:
    os.makedirs("out")
except OSError as error:
    if error.errno != errno.EEXIST:
        raise
    print("there already:", error.filename)
try:
    os.mkdir("out")
    print("made")
except FileExistsError:
    print("not made")
try:
    os.remove("out/log.txt")
except (FileNotFoundError, PermissionError) as error:
    print(type(error).__name__, error.strerror)
try:
    shutil.copy("nothing.pt", "out/first.pt")
except Exception as error:
    print("no copy:", error)

data = torch.randn(45, 6)
labels = (data[:, 0] > data[:, 1]).long()
loader = DataLoader(TensorDataset(data, labels), batch_size=10, shuffle=True)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
saver = Saver(limit=2)
for epoch in range(4):
    total = 0.0
    for batch, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(batch), target)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(batch)
    print(f"epoch {epoch}: {total / len(data):.10f}")
    try:
        saver.save(net.state_dict(), f"out/epoch{epoch}.pt")
    except TooOften as error:
        print(error, error.times)
    try:
        open("none/of/that", "w")
    except FileNotFoundError:
        pass
torch.save(net.state_dict(), "net.pt")
