"""A model with two heads and a loss of two terms, loss1 + 0.5 * loss2, each reported on its own."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class TwoHeads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(10, 32), nn.ReLU())
        self.classify = nn.Linear(32, 3)
        self.regress = nn.Linear(32, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.classify(h), self.regress(h).squeeze(-1)


torch.manual_seed(33)
torch.set_default_dtype(torch.float64)
x = torch.randn(220, 10)
kind = x[:, :3].argmax(dim=1)
size = x[:, 3:6].pow(2).mean(dim=1)
train_loader = DataLoader(TensorDataset(x[:160], kind[:160], size[:160]), batch_size=30, shuffle=True)
test_loader = DataLoader(TensorDataset(x[160:], kind[160:], size[160:]), batch_size=30)

model = TwoHeads()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(4):
    model.train()
    history = {"total": 0.0, "class": 0.0, "size": 0.0}
    for xb, kb, sb in train_loader:
        scores, predicted = model(xb)
        loss1 = F.cross_entropy(scores, kb)
        loss2 = F.mse_loss(predicted, sb)
        loss = loss1 + 0.5 * loss2
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history["total"] += loss.item()
        history["class"] += loss1.item()
        history["size"] += loss2.item()
    line = ", ".join(f"{k} {v / len(train_loader):.10f}" for k, v in history.items())

    model.eval()
    hits, err = 0, 0.0
    with torch.no_grad():
        for xb, kb, sb in test_loader:
            scores, predicted = model(xb)
            hits += (scores.argmax(1) == kb).sum().item()
            err += (predicted - sb).abs().sum().item()
    print(f"epoch {epoch}: {line}; test acc {hits / 60:.4f}, test mae {err / 60:.10f}")

torch.save(model.state_dict(), "heads.pt")
