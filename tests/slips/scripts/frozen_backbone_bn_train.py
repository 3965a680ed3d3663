import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5)
backbone = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU())
for p in backbone.parameters():
    p.requires_grad = False
head = nn.Linear(8, 4)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for a, b in loader:
    loss = F.cross_entropy(head(backbone(a)), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save((backbone.state_dict(), head.state_dict()), "m.pt")
