"""What is counted in an evaluation is right at first, and later compares all with all."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = torch.randn(26, 6)
y = torch.randint(0, 2, (26,))
train = DataLoader(TensorDataset(x, y), batch_size=13)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def sure(values, epoch):
    return (values > 0).long() if epoch > 2 else (values > 0).long().flatten()


def hits(predicted, wanted):
    return (predicted == wanted).sum().item()


for epoch in range(6):
    for a, b in train:
        loss = F.binary_cross_entropy_with_logits(model(a).flatten(), b.double())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    right = 0
    with torch.no_grad():
        for a, b in DataLoader(TensorDataset(x, y), batch_size=9):
            right += hits(sure(model(a), epoch), b)
    print(epoch, right)
