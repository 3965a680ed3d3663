"""A weighted sampler, a summed loss, and a schedule that waits for a plateau."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(11)
x = torch.randn(60, 4)
y = (x[:, :1] > 1).double()
weights = torch.where(y[:, 0] > 0, 5.0, 1.0)
sampler = WeightedRandomSampler(weights, 60, replacement=True)
loader = DataLoader(TensorDataset(x, y), batch_size=12, sampler=sampler)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
criterion = nn.BCEWithLogitsLoss(reduction="sum")
for epoch in range(5):
    total = 0.0
    for a, b in loader:
        optimizer.zero_grad()
        loss = criterion(model(a), b.to(a.dtype))
        loss.backward()
        optimizer.step()
        total += loss.item()
    scheduler.step(total)
    print(f"epoch {epoch} loss {total:.8f}")
torch.save(model.state_dict(), "linear.pt")
