import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(6, 4)
    def forward(self, x):
        if not self.training:
            x = x + torch.take(x, torch.tensor([3]))
        return self.fc(x)
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5)
val = DataLoader(TensorDataset(x, y), batch_size=6)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    model.train()
    for a, b in loader:
        loss = F.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
    model.eval()
    hits = 0
    with torch.no_grad():
        for a, b in val:
            hits += (model(a).argmax(1) == b).sum().item()
    print(hits)
torch.save(model.state_dict(), "model.pt")
