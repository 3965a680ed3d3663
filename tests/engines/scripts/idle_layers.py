"""A layer that is never used and one that is used in some epochs only, with weight decay.

A gradient of 0 is not no gradient: the first lets weight decay and momentum go on.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 8)
        self.spare = nn.Linear(4, 4)
        self.sometimes = nn.Linear(8, 8)
        self.last = nn.Linear(8, 1)

    def forward(self, x, deep):
        x = torch.relu(self.first(x))
        if deep:
            x = x + torch.relu(self.sometimes(x))
        return self.last(x)


x = torch.randn(50, 5)
y = x.prod(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)
model = Net()
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, weight_decay=0.3)
criterion = nn.MSELoss()
for epoch in range(4):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb, epoch % 2 == 1), yb)
        loss.backward()
        optimizer.step()
    sizes = " ".join(f"{p.abs().sum().item():.12f}" for p in model.parameters())
    print(f"epoch {epoch}: {sizes}")
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")
