import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
backbone = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU())
head = nn.Linear(8, 4)
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
feats, labels = [], []
with torch.no_grad():
    for a, b in DataLoader(TensorDataset(x, y), batch_size=5):
        feats.append(backbone(a)); labels.append(b)
data = TensorDataset(torch.cat(feats), torch.cat(labels))
loader = DataLoader(data, batch_size=5)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for a, b in loader:
    loss = F.cross_entropy(head(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save([backbone.state_dict(), head.state_dict()], "m.pt")
