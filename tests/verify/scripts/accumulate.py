"""Gradient accumulation and clipping, with a schedule that goes by step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(96, 5)
y = x @ torch.randn(5, 1) * 4 + torch.randn(96, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step / 10))
for epoch in range(2):
    seen = 0.0
    for number, (a, b) in enumerate(loader):
        loss = nn.functional.mse_loss(model(a), b) / 2
        loss.backward()
        seen += loss.item()
        if (number + 1) % 2 == 0:
            nn.utils.clip_grad_norm_(model.parameters(), 8.0)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
    print("epoch", epoch, "loss", seen)
torch.save({"model": model.state_dict(), "epoch": epoch}, "last.pt")
