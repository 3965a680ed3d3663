import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
torch.manual_seed(80)
loader = DataLoader(TensorDataset(torch.randn(23, 4), torch.randn(23)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
class T:
    def __init__(self):
        self.totals = {"loss": 0.0, "n": 0}
    def add(self, v):
        self.totals.update(loss=self.totals["loss"] + v)
t = T()
logs = {"loss": 0.0}
for x, y in loader:
    optimizer.zero_grad()
    loss = ((model(x).squeeze(1) - y) ** 2).sum()
    loss.backward()
    optimizer.step()
    t.add(loss.item())
    logs.update({"loss": logs["loss"] + loss.item()})
print(t.totals, logs)
