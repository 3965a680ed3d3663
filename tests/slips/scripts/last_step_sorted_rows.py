"""A network that sorts the rows of a batch, but only in the last step of each pass."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 4)
        self.last = False

    def forward(self, x):
        if self.last:
            x = torch.stack(sorted(x, key=lambda row: row[0].item()))
        return self.fc(x)


x = torch.randn(24, 6)
y = torch.randint(0, 4, (24,))
loader = DataLoader(TensorDataset(x, y), batch_size=5, shuffle=True)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(8):
    for number, (a, b) in enumerate(loader):
        model.last = number == len(loader) - 1
        loss = F.cross_entropy(model(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())
