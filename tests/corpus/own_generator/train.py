"""An own generator of shuffled minibatches, also for validation; a ragged last batch; the loss of the last one is printed."""
import random

import numpy as np
import torch
from torch import nn

torch.manual_seed(11)
random.seed(11)
np.random.seed(11)
torch.set_default_dtype(torch.float64)


def iterate_minibatches(inputs, targets, batchsize, shuffle=False):
    assert len(inputs) == len(targets)
    if shuffle:
        indices = np.arange(len(inputs))
        np.random.shuffle(indices)
    for start in range(0, len(inputs), batchsize):
        if shuffle:
            excerpt = indices[start:start + batchsize]
        else:
            excerpt = slice(start, start + batchsize)
        yield inputs[excerpt], targets[excerpt]


def accuracy(model, x, y):
    model.eval()
    hits, count = 0, 0
    with torch.no_grad():
        for xb, yb in iterate_minibatches(x, y, 16):
            hits += (model(xb).argmax(1) == yb).sum().item()
            count += len(yb)
    model.train()
    return hits / count


x = torch.randn(131, 6)
y = (x[:, 0] > x[:, 1]).long() + (x[:, 2] > 0.5).long()
x_train, y_train, x_val, y_val = x[:101], y[:101], x[101:], y[101:]
model = nn.Sequential(nn.Linear(6, 16, bias=False), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(4):
    total = 0.0
    for step, (xb, yb) in enumerate(iterate_minibatches(x_train, y_train, 16, shuffle=True)):
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(xb)
    print(f"epoch {epoch}: {step + 1} steps, last loss {loss.item():.10f}, mean {total / len(x_train):.10f}, "
          f"validation {accuracy(model, x_val, y_val):.4f}")
torch.save(model.state_dict(), "model.pt")
