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
class logged:
    def __init__(self, function):
        self.function = function
    def __call__(self, *args):
        result = self.function(*args)
        print('loss %.12f' % result.item())
        return result

@logged
def compute(xb, yb):
    return F.mse_loss(model(xb), yb)

for epoch in range(2):
    for xb, yb in loader:
        loss = compute(xb, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
