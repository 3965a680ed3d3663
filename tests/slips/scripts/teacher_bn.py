import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5)
teacher = nn.Sequential(nn.BatchNorm1d(6), nn.Linear(6, 4))
model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    with torch.no_grad():
        t = teacher(a)
    loss = F.mse_loss(model(a), t)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
