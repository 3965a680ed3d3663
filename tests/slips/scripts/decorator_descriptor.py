import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
x = torch.randn(23, 4)
y = (x[:, :1] * 2 - x[:, 1:2] ** 2)
labels = (x.sum(1) > 0).long() + (x[:, 0] > 1).long()
loader = DataLoader(TensorDataset(x, y), batch_size=5, shuffle=True)
model = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
import functools
def counted(prefix):
    class Wrapper:
        def __init__(self, f):
            self.f = f
        def __get__(self, obj, cls):
            return functools.partial(self, obj)
        def __call__(self, *a):
            r = self.f(*a)
            print(prefix, '%.12f' % r)
            return r
    return Wrapper
class Trainer:
    @counted('step')
    def step(self, xb, yb):
        loss = F.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()
t = Trainer()
for epoch in range(2):
    for xb, yb in loader:
        t.step(xb, yb)
