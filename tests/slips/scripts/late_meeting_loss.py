"""From the fifth epoch on the figures of all samples meet those of all others."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)
x = torch.randn(36, 4)
y = x.sum(1)


def shape(values, epoch):
    return values if epoch >= 4 else values.squeeze(1)


def squares(difference):
    return (difference * difference).mean()


net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(7):
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=12):
        optimizer.zero_grad()
        loss = squares(shape(net(inputs), epoch) - targets)
        loss.backward()
        optimizer.step()
    print(epoch, round(net.weight.abs().sum().item(), 9))
