"""Losses that are no mean over samples: roots, ratios of sums, order statistics, correlations."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(5)
x = torch.randn(50, 6)
y = torch.tanh(x[:, :1] - x[:, 1:2])
# the last batch has two samples
loader = DataLoader(TensorDataset(x, y), batch_size=12, shuffle=True)


class DiceLoss(nn.Module):
    def __init__(self, smooth=1.0):
        super().__init__()
        self.smooth = smooth

    def forward(self, logits, targets):
        p = torch.sigmoid(logits).view(-1)
        t = (targets > 0).double().view(-1)
        intersection = (p * t).sum()
        return 1 - (2 * intersection + self.smooth) / (p.sum() + t.sum() + self.smooth)


def rmse(out, target):
    return torch.sqrt(F.mse_loss(out, target) + 1e-8)


def correlation(out, target):
    a = out - out.mean()
    b = target - target.mean()
    return 1 - (a * b).sum() / (a.norm() * b.norm() + 1e-8)


def hardest(out, target):
    losses = ((out - target) ** 2).squeeze(1)
    return losses.topk(max(1, len(losses) // 3)).values.mean()


def train(name, criterion):
    torch.manual_seed(6)
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(2):
        total = 0.0
        for xb, yb in loader:
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"{name}, epoch {epoch}: {total / len(loader):.10f}")


train("rmse", rmse)
train("dice", DiceLoss())
train("correlation", correlation)
train("hardest", hardest)

# a mean over samples, plus terms of the whole batch
model = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for epoch in range(2):
    for step, (xb, yb) in enumerate(loader):
        out = model(xb)
        focus = torch.exp(-F.l1_loss(out, yb))
        loss = focus * F.mse_loss(out, yb) + 0.1 * out.std() + 0.01 * out.mean() ** 2
        (loss / 2).backward()
        if step % 2 == 1:
            optimizer.step()
            optimizer.zero_grad()
    print(f"mixed, epoch {epoch}: {loss.item():.10f}")
torch.save(model.state_dict(), "model.pt")

# rows that a condition picks: as many as there are
for epoch in range(2):
    for xb, yb in loader:
        out = model(xb)
        sure = yb.abs() > 0.5
        loss = F.mse_loss(out, yb) + F.l1_loss(out[sure], yb[sure]) + ((out - yb) ** 2)[sure].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"picked, epoch {epoch}: {loss.item():.10f}", out[sure].detach())
