"""A factory gives one of three tasks, by a name from the command line; the loop calls `task.step`."""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Regression:
    def __init__(self):
        self.model = nn.Linear(4, 1)
        self.criterion = nn.MSELoss()

    def step(self, batch):
        x, y = batch
        return self.criterion(self.model(x), y.view(-1, 1))

    def score(self, x, y):
        return -(self.model(x).view(-1) - y).abs().mean().item()


class Robust:
    def __init__(self):
        self.model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))

    def step(self, batch):
        x, y = batch
        return nn.functional.smooth_l1_loss(self.model(x).squeeze(1), y, beta=0.5)

    def score(self, x, y):
        return -nn.functional.l1_loss(self.model(x).squeeze(1), y).item()


class Sign:
    def __init__(self):
        self.model = nn.Linear(4, 2)

    def step(self, batch):
        x, y = batch
        return nn.functional.cross_entropy(self.model(x), (y > 0).long())

    def score(self, x, y):
        return (self.model(x).argmax(1) == (y > 0).long()).double().mean().item()


def make_task(name):
    if name == "regression":
        return Regression()
    if name == "robust":
        return Robust()
    return Sign()


parser = argparse.ArgumentParser()
parser.add_argument("--task", default="robust")
args = parser.parse_args()
torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = torch.randn(50, 4)
y = x[:, 0] - 0.5 * x[:, 1]
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
task = make_task(args.task)
optimizer = torch.optim.Adam(task.model.parameters(), lr=0.02)
for epoch in range(3):
    for batch in loader:
        loss = task.step(batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
    with torch.no_grad():
        print("score", sum(task.score(x, y) for x, y in loader))
