"""An IterableDataset that streams generated lines of text, batched by the loader."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


class LineStream(IterableDataset):
    """Parses lines "a,b,c;label" one after the other, as from a file that is too big for memory."""

    def __init__(self, lines):
        super().__init__()
        self.lines = lines

    def __iter__(self):
        for line in self.lines:
            features, label = line.split(";")
            yield torch.tensor([float(v) for v in features.split(",")], dtype=torch.float64), int(label)


def write_lines(n):
    lines = []
    for _ in range(n):
        values = [random.gauss(0, 1) for _ in range(4)]
        label = int(values[0] + values[1] * values[2] > 0)
        lines.append(",".join("%.6f" % v for v in values) + ";" + str(label))
    return lines


random.seed(5)
torch.manual_seed(5)
train_loader = DataLoader(LineStream(write_lines(170)), batch_size=20)
test_loader = DataLoader(LineStream(write_lines(83)), batch_size=20)

model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2)).double()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.8)
criterion = nn.CrossEntropyLoss()

for epoch in range(4):
    seen, total = 0, 0.0
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * y.size(0)
        seen += y.size(0)
    hits = count = 0
    with torch.no_grad():
        for x, y in test_loader:
            hits += (model(x).argmax(1) == y).sum().item()
            count += y.size(0)
    print(f'epoch {epoch}: {seen} lines, loss {total / seen:.10f}, test {hits}/{count}')
