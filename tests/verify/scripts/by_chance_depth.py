"""Blocks that are left out by chance, for the whole batch at once, and a factor drawn for it."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width, drop):
        super().__init__()
        self.layer, self.norm, self.drop = nn.Linear(width, width), nn.BatchNorm1d(width), drop

    def forward(self, x):
        if self.training and torch.rand(1).item() < self.drop:
            return x
        return x + torch.relu(self.norm(self.layer(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 8)
        self.blocks = nn.ModuleList([Block(8, 0.4) for _ in range(3)])
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = block(x)
        factor = torch.rand(1) if self.training else 0.5
        return self.head(x * factor)


x = torch.randn(26, 4)
data = TensorDataset(x, x.prod(1, keepdim=True))
loader = DataLoader(data, batch_size=8, shuffle=True)
test_loader = DataLoader(data, batch_size=5)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.01)
for epoch in range(3):
    model.train()
    total = 0.0
    for inputs, targets in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(inputs)
    model.eval()
    with torch.no_grad():
        error = sum(
            ((model(inputs) - targets) ** 2).sum().item() for inputs, targets in test_loader
        )
    print(epoch, total / len(data), error / len(data))
