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
    def __sub__(self, o): return (self.v - o.v).abs().sum().item()
    def __neg__(self): return -self.v.sum().item()
    def __rmul__(self, k): return k * self.v.sum().item()
    def __pow__(self, k): return (self.v ** k).sum().item()
    def __matmul__(self, o): return (self.v * o.v).sum().item()
for x, y in loader:
    optimizer.zero_grad()
    out = model(x).squeeze(1)
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()
    print(M(out) - M(y))
    print(-M(y))
    print(2 * M(y))
    print(M(y) ** 2)
    print(M(y) @ M(out))
