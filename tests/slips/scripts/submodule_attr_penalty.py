import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Sparse(nn.Module):
    def __init__(self, i, o):
        super().__init__(); self.fc = nn.Linear(i, o); self.penalty = 0
    def forward(self, x):
        h = torch.sigmoid(self.fc(x))
        rho = h.mean(0)
        self.penalty = (0.1 * torch.log(0.1 / rho)).sum()
        return h
model = nn.Sequential(Sparse(6, 8), nn.Linear(8, 4))
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    loss = F.cross_entropy(model(a), b) + model[0].penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save(model.state_dict(), "model.pt")
