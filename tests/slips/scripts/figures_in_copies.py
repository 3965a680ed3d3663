"""Figures in copies of containers, and in repeated lists."""

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
        print(dict(logs), dict(logs, more=1), logs | {"more": 2}, "%s" % logs)
        print(two * 2, 2 * pair, [value] * len(b))
        other = dict(logs)
        other["loss"] = other["loss"] / 2
        rows.append(other)
        rows.append(logs.pop("loss"))
print(rows)
