"""A classifier with a validation split, a schedule, early stopping and a best checkpoint."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(3)
points = torch.randn(118, 6)
labels = (points[:, 0] * points[:, 1] > 0).long()
training, validation = random_split(TensorDataset(points, labels), [95, 23])
train_loader = DataLoader(training, batch_size=16, shuffle=True)
val_loader = DataLoader(validation, batch_size=10)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
best, waited = float("inf"), 0
for epoch in range(8):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    total, correct = 0.0, 0
    with torch.no_grad():
        for x, y in val_loader:
            out = model(x)
            total += nn.functional.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
    total /= len(validation)
    print(f"epoch {epoch} validation {total:.10f} accuracy {correct / len(validation):.6f}")
    if total < best:
        best, waited = total, 0
        torch.save(model.state_dict(), "best.pt")
    else:
        waited += 1
        if waited == 1:
            print("stop")
            break
