import torch
from dataclasses import dataclass
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from typing import Any

torch.set_default_dtype(torch.float64)
torch.manual_seed(80)

@dataclass
class Batch:
    x: Any
    y: Any

def batches(loader):
    for batch in loader:
        yield Batch(x=batch[0], y=batch[1])

class Feed:
    def __init__(self, loader):
        self.loader = loader

    def __iter__(self):
        for batch in self.loader:
            x, y = batch.x, batch.y
            yield Batch(x=x, y=y)

loader = DataLoader(TensorDataset(torch.randn(23, 4), torch.randn(23)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = nn.MSELoss()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x).squeeze(1), y)
    loss.backward()
    optimizer.step()
for batch in Feed(batches(loader)):
    print(batch.y.sum().item())
