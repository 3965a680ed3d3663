"""The last training batch has one sample and the last validation batch two: fewer than the workers."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
torch.set_default_dtype(torch.float64)

x = torch.randn(147, 8)
w = torch.randn(8, 4)
y = (x @ w + 0.5 * torch.randn(147, 4)).argmax(dim=1)

train_loader = DataLoader(TensorDataset(x[:97], y[:97]), batch_size=16, shuffle=True)   # 6 * 16 + 1
val_loader = DataLoader(TensorDataset(x[97:], y[97:]), batch_size=16, shuffle=False)    # 3 * 16 + 2

model = nn.Sequential(
    nn.Linear(8, 16),
    nn.ReLU(),
    nn.Linear(16, 4),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)

for epoch in range(1, 6):
    model.train()
    train_loss, train_correct, seen = 0.0, 0, 0
    for xb, yb in train_loader:
        logits = model(xb)
        loss = F.cross_entropy(logits, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
        train_correct += (logits.argmax(dim=1) == yb).sum().item()
        seen += len(xb)

    model.eval()
    val_loss, val_correct = 0.0, 0
    with torch.no_grad():
        for xb, yb in val_loader:
            logits = model(xb)
            val_loss += F.cross_entropy(logits, yb).item()   # mean over batches, the small one included
            val_correct += (logits.argmax(dim=1) == yb).sum().item()

    print("epoch {} | {} samples | train loss {:.10f} acc {:.4f} | val loss {:.10f} acc {:.4f}".format(
        epoch, seen,
        train_loss / len(train_loader), train_correct / seen,
        val_loss / len(val_loader), val_correct / len(val_loader.dataset)))

torch.save(model.state_dict(), 'weights.pt')
