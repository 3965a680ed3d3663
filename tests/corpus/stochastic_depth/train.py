"""Layers that are left out by chance: for the whole batch, for single samples; steps that are."""
import random

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(9)
random.seed(9)
torch.set_default_dtype(torch.float64)


def drop_path(x, drop_prob=0.0, training=False):
    if drop_prob == 0.0 or not training:
        return x
    keep_prob = 1 - drop_prob
    shape = (x.shape[0],) + (1,) * (x.ndim - 1)
    random_tensor = keep_prob + torch.rand(shape, dtype=x.dtype, device=x.device)
    random_tensor.floor_()
    return x.div(keep_prob) * random_tensor


class Net(nn.Module):
    def __init__(self, depth=4):
        super().__init__()
        self.stem = nn.Linear(5, 8)
        self.blocks = nn.ModuleList(nn.Linear(8, 8) for _ in range(depth))
        self.drop = nn.Dropout(0.2)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = self.stem(x)
        for i, block in enumerate(self.blocks):
            if self.training and torch.rand(1).item() < 0.1 * i:
                continue
            x = x + drop_path(self.drop(torch.relu(block(x))), 0.1 * i, self.training)
        return self.head(x)


x = torch.randn(77, 5)
y = x.sum(1, keepdim=True).sin()
loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
model = Net()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    total, seen = 0.0, 0
    for xb, yb in loader:
        scale = 1.0 + 0.1 * torch.randn(1).item()
        if random.random() < 0.2:
            xb = xb + 0.01 * torch.randn_like(xb)
        loss = ((model(xb * scale) - yb) ** 2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * len(xb)
        seen += len(xb)
    print("epoch", epoch, "loss", "%.12f" % (total / seen))
torch.save(model.state_dict(), "net.pt")
