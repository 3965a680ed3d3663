"""Samples are moved along the gradient of the loss before the network learns from them."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
inputs = torch.randn(43, 6)
targets = (inputs[:, 0] * inputs[:, 1] > 0).long()
loader = DataLoader(TensorDataset(inputs, targets), batch_size=14, shuffle=True)
model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)


def attack(model, x, y, steps=2, size=0.3):
    moved = x.clone()
    for _ in range(steps):
        moved.requires_grad_(True)
        loss = F.cross_entropy(model(moved), y)
        slope = torch.autograd.grad(loss, moved)[0]
        moved = (moved + size * slope / slope.norm(dim=1, keepdim=True)).detach()
    return moved


for epoch in range(3):
    total, robust, count = 0.0, 0, 0
    for x, y in loader:
        outputs = model(attack(model, x, y))
        loss = F.cross_entropy(outputs, y) + 0.5 * F.cross_entropy(model(x), y)
        x.requires_grad_(True)
        blended = F.cross_entropy(model(0.6 * x + 0.4 * x.flip(0)), y)
        (slope,) = torch.autograd.grad(blended, x)
        loss = loss + 0.5 * F.cross_entropy(model(x.detach() + slope), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(x)
        robust += (outputs.argmax(dim=1) == y).sum().item()
        count += len(x)
    print(f"epoch {epoch}: loss {total / count:.10f}, right under attack {robust}/{count}")
torch.save(model.state_dict(), "robust.pt")
