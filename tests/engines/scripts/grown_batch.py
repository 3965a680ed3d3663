"""Prints the rate of every step; with its own schedule it can be its own reference.

`--factors` gives what each step's learning rate is multiplied by: with twice the batch size this is
what two workers with `--batch per-worker --lr …` must come to.
"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=8)
parser.add_argument("--factors", type=float, nargs="*", default=[])
args = parser.parse_args()
torch.manual_seed(6)
torch.set_default_dtype(torch.float64)
x = torch.randn(60, 4)
y = x.sin().sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.04, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
criterion = nn.MSELoss()


def show(stepping, *_):
    print(f"rate {stepping.param_groups[0]['lr']:.12f}")


optimizer.register_step_pre_hook(show)
count = 0
for epoch in range(4):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        rate = optimizer.param_groups[0]["lr"]
        if args.factors:
            optimizer.param_groups[0]["lr"] = rate * args.factors[count]
        optimizer.step()
        optimizer.param_groups[0]["lr"] = rate
        count += 1
    scheduler.step()
    print(f"epoch {epoch}: {count} steps, weights {sum(p.sum() for p in model.parameters()).item():.12f}")
torch.save(model.state_dict(), "last.pt")
