# refused: no optimizer; the weights are moved by hand (p -= lr * p.grad)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
x = torch.randn(200, 5)
y = x @ torch.randn(5, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=20, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
lr = 0.05

for epoch in range(3):
    for xb, yb in loader:
        loss = ((model(xb) - yb) ** 2).mean()
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= lr * p.grad
    print(epoch, loss.item())
