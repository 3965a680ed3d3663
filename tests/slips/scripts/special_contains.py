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
    def __contains__(self, k): return bool((self.v > k).any())
for x, y in loader:
    optimizer.zero_grad()
    out = model(x).squeeze(1)
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()
    m = M(y)
    print(1.0 in m)
