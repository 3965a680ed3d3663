import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

x = torch.randn(22, 6)
y = x.sum(1, keepdim=True).sin() + 0.1 * torch.randn(22, 1)
train_set = TensorDataset(x, y)
loader = DataLoader(train_set, batch_size=5, shuffle=True)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for a, b in loader:
    out = model(a)
    loss = nn.SmoothL1Loss(beta=float((out - b).abs().mean()))(out, b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
