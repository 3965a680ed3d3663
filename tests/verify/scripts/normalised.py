"""Batch normalisation and dropout."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
images = torch.randn(72, 1, 6, 6)
labels = (images.mean((1, 2, 3)) > 0).long()
loader = DataLoader(TensorDataset(images, labels), batch_size=12, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = nn.BatchNorm2d(4)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(64, 2)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.out(self.drop(x.flatten(1)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print("epoch", epoch)
torch.save(model.state_dict(), "net.pt")
