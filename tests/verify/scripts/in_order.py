"""Samples in order, as many as divide evenly: where the usual recipe for DDP is exact."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
x = torch.randn(72, 4)
y = torch.sin(x.sum(1, keepdim=True))
loader = DataLoader(TensorDataset(x[:48], y[:48]), batch_size=12)
test_loader = DataLoader(TensorDataset(x[48:], y[48:]), batch_size=12)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for epoch in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    error, count = 0.0, 0
    with torch.no_grad():
        for a, b in test_loader:
            error += (model(a) - b).abs().sum().item()
            count += len(a)
    print(f"epoch {epoch} error {error / count:.8f} of {count}")
