import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
torch.manual_seed(80)
loader = DataLoader(TensorDataset(torch.randn(23, 4), torch.randn(23)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = nn.MSELoss()
class M:
    def __init__(self, v): self.v = v
    def __getitem__(self, k): return self.v[k]
for x, y in loader:
    optimizer.zero_grad()
    out = model(x).squeeze(1)
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()
    m = M({"a": loss.item(), "b": y.sum().item()})
    print(m["a"], m["b"])
