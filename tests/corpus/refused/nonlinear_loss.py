# refused: root of the mean: the loss is not a mean over samples, so slices cannot be added up
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(12)
x = torch.randn(180, 4)
y = x.pow(2).sum(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=18, shuffle=True)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
mse = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    total = 0.0
    for xb, yb in loader:
        rmse = torch.sqrt(mse(model(xb), yb))
        optimizer.zero_grad()
        rmse.backward()
        optimizer.step()
        total += rmse.item()
    print(f'epoch {epoch}: rmse {total / len(loader):.4f}')
