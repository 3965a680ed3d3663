"""Gradient accumulation: loss / k, a step every k micro-batches and at the end of the epoch."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ACCUMULATE = 4
torch.manual_seed(55)

x = torch.randn(205, 6, dtype=torch.float64)
y = (x.sin().sum(dim=1) > 0).long()
train_loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)  # 21 micro-batches, the last of 5

model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 2)).double()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.3)

for epoch in range(4):
    optimizer.zero_grad()
    epoch_loss = 0.0
    updates = 0
    for i, (inputs, targets) in enumerate(train_loader):
        outputs = model(inputs)
        loss = criterion(outputs, targets) / ACCUMULATE
        loss.backward()
        epoch_loss += loss.item() * ACCUMULATE
        if (i + 1) % ACCUMULATE == 0 or (i + 1) == len(train_loader):
            optimizer.step()
            optimizer.zero_grad()
            updates += 1
    print(f"epoch {epoch + 1}: loss {epoch_loss / len(train_loader):.12f} ({updates} updates)")

torch.save({'state_dict': model.state_dict(), 'epochs': 4}, 'accumulated.pt')
