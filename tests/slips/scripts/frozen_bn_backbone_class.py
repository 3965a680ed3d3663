import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Backbone(nn.Module):
    def __init__(self):
        super().__init__(); self.conv = nn.Conv1d(1, 4, 3, padding=1); self.bn = nn.BatchNorm1d(4)
    def forward(self, x):
        return torch.relu(self.bn(self.conv(x.unsqueeze(1)))).mean(2)
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5)
backbone, head = Backbone(), nn.Linear(4, 4)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for a, b in loader:
    with torch.no_grad():
        f = backbone(a)
    loss = F.cross_entropy(head(f), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save([backbone.state_dict(), head.state_dict()], "m.pt")
