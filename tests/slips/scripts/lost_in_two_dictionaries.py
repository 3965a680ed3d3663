"""The same, in the union of two dictionaries."""

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
    average = None
    for a, b in loader:
        loss = F.binary_cross_entropy_with_logits(model(a).squeeze(1), b, reduction="sum")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
        average = value if average is None else 0.9 * average + 0.1 * value
    logs = {"average": average}
    rows.append(logs | {"epoch": epoch})
print(rows)
