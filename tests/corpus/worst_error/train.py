"""Evaluation with a maximum (the worst error), a minimum and the index of the worst sample."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(50)
torch.set_default_dtype(torch.float64)
x = torch.rand(230, 3) * 2 - 1
y = (x[:, 0] + x[:, 1] ** 2 - x[:, 2] ** 3).unsqueeze(1)
train_loader = DataLoader(TensorDataset(x[:160], y[:160]), batch_size=20, shuffle=True)
test_loader = DataLoader(TensorDataset(x[160:], y[160:]), batch_size=15)

model = nn.Sequential(nn.Linear(3, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

for epoch in range(3):
    for xb, yb in train_loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    worst, best, worst_index, offset = 0.0, float("inf"), None, 0
    with torch.no_grad():
        for xb, yb in test_loader:
            err = (model(xb) - yb).abs().squeeze(1)
            if err.max().item() > worst:
                worst = err.max().item()
                worst_index = offset + err.argmax().item()
            best = min(best, err.min().item())
            offset += len(xb)
    print(f"epoch {epoch}: worst error {worst:.10f} at {worst_index}, smallest {best:.10f}")
