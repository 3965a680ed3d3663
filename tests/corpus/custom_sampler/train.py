"""A Sampler class of the user's own with set_epoch: easy samples first, harder ones with each epoch."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Sampler, TensorDataset


class CurriculumSampler(Sampler):
    """Yields the easiest part of the data, in random order; the part grows with the epoch."""

    def __init__(self, difficulty, start=0.4, growth=0.2):
        self.order = torch.argsort(difficulty).tolist()
        self.start, self.growth = start, growth
        self.epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        part = self.order[:len(self)]
        random.shuffle(part)
        return iter(part)

    def __len__(self):
        fraction = min(1.0, self.start + self.growth * self.epoch)
        return int(len(self.order) * fraction)


random.seed(3)
torch.manual_seed(3)
torch.set_default_dtype(torch.float64)

x = torch.randn(240, 5)
y = (x.sum(1) > 0).to(torch.float64)
sampler = CurriculumSampler(difficulty=-x.sum(1).abs())
loader = DataLoader(TensorDataset(x, y), batch_size=16, sampler=sampler)

model = nn.Sequential(nn.Linear(5, 12), nn.Tanh(), nn.Linear(12, 1), nn.Flatten(0))
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
criterion = nn.BCEWithLogitsLoss()

for epoch in range(4):
    sampler.set_epoch(epoch)
    total, count = 0.0, 0
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
        count += len(xb)
    print(f"epoch {epoch}: {len(loader)} batches, {count} samples, loss {total / count:.12f}")
