"""Items of lists and dictionaries that are changed where figures of the batch stand."""

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
        changed = list(two)
        changed[0] = 7
        print(changed)
        totals = [0.0, 0.0]
        totals[0] += value
        totals[1] += len(b)
        print(totals[0] / totals[1], totals)
        other = logs
        other["loss"] = 7
        print(other)
print(rows)
