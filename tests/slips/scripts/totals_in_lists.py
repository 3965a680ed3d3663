import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
torch.manual_seed(80)
loader = DataLoader(TensorDataset(torch.randn(23, 4), torch.randn(23)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
totals = [0.0, 0]
class T:
    total = 0.0
t = T()
for x, y in loader:
    optimizer.zero_grad()
    loss = ((model(x).squeeze(1) - y) ** 2).sum()
    loss.backward()
    optimizer.step()
    totals[0] = totals[0] + loss.item()
    t.total = t.total + loss.item()
    setattr(t, "other", getattr(t, "other", 0.0) + loss.item())
print(totals, t.total, t.other)
