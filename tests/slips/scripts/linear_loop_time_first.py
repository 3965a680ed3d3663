import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.i2h = nn.Linear(3, 5)
        self.h2h = nn.Linear(5, 5)
        self.out = nn.Linear(5, 4)
    def forward(self, x):
        h = torch.zeros(x.size(1), 5)
        for t in range(x.size(0)):
            h = torch.tanh(self.i2h(x[t]) + self.h2h(h))
        return self.out(h)
x = torch.randn(24, 6, 3); y = torch.randint(0, 4, (24,))
loader = DataLoader(TensorDataset(x, y), batch_size=6)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    out = model(a.transpose(0, 1))
    loss = F.cross_entropy(out, b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), out[-1].sum().item(), out.size(0))
