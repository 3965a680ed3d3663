import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.set_default_dtype(torch.float64)
torch.manual_seed(80)
class Feed:
    def __init__(self, loader):
        self.loader = loader
    def __iter__(self):
        self.it = iter(self.loader)
        return self
    def __next__(self):
        x, y = next(self.it)
        return {"x": x, "y": y}
loader = DataLoader(TensorDataset(torch.randn(23, 4), torch.randn(23)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = nn.MSELoss()
for x, y in loader:
    optimizer.zero_grad()
    loss = criterion(model(x).squeeze(1), y)
    loss.backward()
    optimizer.step()
for batch in Feed(loader):
    print(batch["y"].sum().item())
