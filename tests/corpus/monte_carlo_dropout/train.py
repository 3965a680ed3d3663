"""Batches made by hand with dropout, accumulated; an evaluation that keeps dropout on."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
torch.set_default_dtype(torch.float64)
data = torch.randn(96, 5)
target = data.pow(2).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
test_loader = DataLoader(TensorDataset(data, target), batch_size=24)

for step in range(12):
    rows = torch.randint(0, 96, (12,))
    x, y = data[rows], target[rows]
    loss = nn.functional.mse_loss(model(x), y)
    (loss / 2).backward()
    if step % 2 == 1:
        optimizer.step()
        optimizer.zero_grad()
    if step % 4 == 3:
        error = 0.0
        with torch.no_grad():
            for xb, yb in test_loader:
                votes = (model(xb) + model(xb) + model(xb)) / 3
                error += (votes - yb).pow(2).sum().item()
        print(step, "%.12f" % loss.item(), "%.12f" % (error / len(data)))
