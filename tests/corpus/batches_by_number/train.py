"""Epochs over a random order by hand: order[i : i + 16] looks up rows; a short last batch; batch norm; best epoch."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(3)
np.random.seed(3)
torch.set_default_dtype(torch.float64)

X = np.random.randn(149, 10)
y = (X[:, 0] * X[:, 1] > 0).astype(np.int64) + (X[:, 2] > 1)
X_val, y_val = torch.from_numpy(X[120:]), torch.from_numpy(y[120:])
X, y = X[:120], y[:120]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(10, 24), nn.BatchNorm1d(24), nn.Tanh(), nn.Linear(24, 3))

    def forward(self, x):
        return self.layers(x)


def train_step(model, optimizer, criterion, xb, yb):
    optimizer.zero_grad()
    out = model(xb)
    loss = criterion(out, yb)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item(), (out.argmax(1) == yb).sum().item()


def main(batch_size=16, epochs=4):
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)
    criterion = nn.CrossEntropyLoss()
    best = float("inf")
    for epoch in range(epochs):
        model.train()
        order = np.random.permutation(len(X))
        total, correct, history = 0.0, 0, []
        for start in range(0, len(order), batch_size):
            idx = order[start:start + batch_size]
            xb = torch.from_numpy(X[idx])
            yb = torch.from_numpy(y[idx])
            loss, right = train_step(model, optimizer, criterion, xb, yb)
            total += loss * len(xb)
            correct += right
            history.append(loss)
        scheduler.step()
        model.eval()
        with torch.no_grad():
            val = criterion(model(X_val), y_val).item()
        print(f"epoch {epoch}: loss {total / len(X):.10f} accuracy {correct / len(X):.4f} "
              f"worst {max(history):.10f} val {val:.10f}")
        if val < best:
            best = val
            torch.save(model.state_dict(), "model.pt")
    print(f"best {best:.10f}")


if __name__ == "__main__":
    main()
