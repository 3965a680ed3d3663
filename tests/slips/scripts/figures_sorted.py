"""What is the least of some figures is not the same in every slice."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(94)
x = torch.randn(44, 3)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).double()), batch_size=6, shuffle=True)
model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
rows = []
for epoch in range(2):
    for a, b in loader:
        loss = F.binary_cross_entropy_with_logits(model(a).squeeze(1), b, reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
        pair = [value, 2.0]
        two = [value, 3.0 * b.mean().item()]
        logs = {"loss": value, "twice": 2.0 * value, "bound": 1.5}
        print(sorted(two), sorted(pair, reverse=True)[0], list(reversed(pair)))
        least, most = sorted(pair)
        print(least, most, sorted([len(b), 3]))
        print(list(filter(lambda one: one > 2.5, two)))
        print(max(logs, key=logs.get), sorted(logs, key=logs.get))
print(rows)
