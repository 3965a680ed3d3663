"""Steps are skipped where the loss of the batch is far above its moving average."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(14)
x = torch.randn(200, 5)
y = torch.sin(x).sum(1, keepdim=True)
x[::17] *= 30    # outliers
loader = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
smooth = None
skipped = 0
for epoch in range(3):
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        if smooth is not None and loss > 3 * smooth:
            skipped += 1
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smooth = loss.item() if smooth is None else 0.9 * smooth + 0.1 * loss.item()
    print(epoch, smooth, 'skipped', skipped)
