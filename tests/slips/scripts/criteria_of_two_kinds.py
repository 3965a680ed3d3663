import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
torch.manual_seed(80)
class Criterion(nn.Module):
    def __init__(self, scale=0.5):
        super().__init__()
        self.scale = scale
    def forward(self, out, y):
        return self.scale * (out[torch.arange(len(y))] - y).sum()
class Criterion_2(nn.Module):
    def __init__(self, scale=0.5):
        super().__init__()
    def forward(self, out, y):
        return (F.mse_loss(out, y, reduction="none")).sum()
def make(kind):
    if kind == 0:
        return Criterion()
    return Criterion_2()
loader = DataLoader(TensorDataset(torch.randn(23, 4), torch.randn(23)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = make(0)
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x).squeeze(1), y)
    loss.backward()
    optimizer.step()
    print(loss.item())
