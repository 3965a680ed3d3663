"""Figures that are None until the first batch, and values of the last batch after the loop."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
inputs = torch.randn(20, 4)
targets = inputs[:, :1] * 2 - inputs[:, 1:2] ** 2
loader = DataLoader(TensorDataset(inputs[:11], targets[:11]), batch_size=7, shuffle=True)
test_loader = DataLoader(TensorDataset(inputs[11:], targets[11:]), batch_size=4)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)


def run(batches, optimizer=None):
    for x, y in batches:
        loss = F.mse_loss(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return loss.item()


average = None
for epoch in range(3):
    total = None
    for x, y in loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if average is None:
            average = loss.item()
        else:
            average = 0.9 * average + 0.1 * loss.item()
        if total is None:
            total = loss.detach() * len(x)
        else:
            total = total + loss.detach() * len(x)
        print(f"  {average:.12f}")
    print(f"epoch {epoch}: {total.item() / 11:.12f}")
    print(f"last batch {run(loader, optimizer):.12f}")
    model.eval()
    print(f"last test batch {run(test_loader):.12f}")
    model.train()
