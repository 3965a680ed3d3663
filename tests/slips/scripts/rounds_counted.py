import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
train = DataLoader(TensorDataset(torch.randn(20, 4), torch.randn(20)), 5)
valid = DataLoader(TensorDataset(torch.randn(11, 4), torch.randn(11)), 5)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
criterion = nn.MSELoss()
best = float("inf")
for epoch in range(3):
    model.train()
    for x, y in train:
        optimizer.zero_grad()
        loss = criterion(model(x).squeeze(1), y)
        loss.backward()
        optimizer.step()
    model.eval()
    total, rounds = 0.0, 0
    with torch.no_grad():
        for x, y in valid:
            total += criterion(model(x).squeeze(1), y).item()
            rounds += 1
    if total / rounds < best:
        best = total / rounds
        torch.save(model.state_dict(), "best.pt")
    print(epoch, total / rounds, rounds)
