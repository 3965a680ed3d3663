import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class GRL(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g): return -ctx.lam * g, None
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.body = nn.Linear(6, 5); self.cls = nn.Linear(5, 4); self.dom = nn.Linear(5, 2)
    def forward(self, x, lam):
        h = torch.tanh(self.body(x))
        return self.cls(h), self.dom(GRL.apply(h, lam))
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,)); d = torch.randint(0, 2, (22,))
loader = DataLoader(TensorDataset(x, y, d), batch_size=5)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for i, (a, b, c) in enumerate(loader):
    p, q = model(a, 0.1 * i)
    loss = F.cross_entropy(p, b) + F.cross_entropy(q, c)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save(model.state_dict(), "model.pt")
