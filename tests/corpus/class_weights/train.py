"""CrossEntropyLoss(weight=...): its mean is over the weights of the batch, not over its samples."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(27)
torch.set_default_dtype(torch.float64)
y = (torch.rand(210) < 0.2).long()
x = torch.randn(210, 5) + y[:, None] * 0.8
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)

counts = torch.bincount(y)
weight = counts.sum() / (2.0 * counts)
print('class weights', weight.tolist())

model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
criterion = nn.CrossEntropyLoss(weight=weight)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

for epoch in range(4):
    losses = []
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print('epoch', epoch, 'loss', sum(losses) / len(losses))
