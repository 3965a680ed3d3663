"""A first pass over the loader computes mean and deviation of the features, which then normalise the batches."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(44)
features = torch.randn(185, 4, dtype=torch.float64) * torch.tensor([1.0, 10.0, 0.1, 5.0]) + 3
target = (features - 3) / torch.tensor([1.0, 10.0, 0.1, 5.0])
target = target.prod(dim=1)
loader = DataLoader(TensorDataset(features, target), batch_size=24, shuffle=True)

# mean and std over the training data
total = torch.zeros(4, dtype=torch.float64)
total_sq = torch.zeros(4, dtype=torch.float64)
count = 0
for x, _ in loader:
    total += x.sum(dim=0)
    total_sq += (x ** 2).sum(dim=0)
    count += x.shape[0]
mean = total / count
std = (total_sq / count - mean ** 2).sqrt()
print("mean", mean.tolist())
print("std", std.tolist(), "of", count)

model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.L1Loss()
for epoch in range(3):
    error = 0.0
    for x, t in loader:
        x = (x - mean) / std
        loss = criterion(model(x).squeeze(-1), t)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        error += loss.item() * x.shape[0]
    print("epoch", epoch, "mean error", error / count)
torch.save({"model": model.state_dict(), "mean": mean, "std": std}, "normalised.pt")
