"""Each sample is mixed with another of its batch: inputs, targets, and hidden values."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

np.random.seed(0)
torch.manual_seed(0)
X, y = load_digits(return_X_y=True)
dataset = TensorDataset(torch.tensor(X[:122] / 16, dtype=torch.float32), torch.tensor(y[:122]))
loader = DataLoader(dataset, batch_size=24, shuffle=True)
body = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU())
head = nn.Linear(32, 10)
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1, momentum=0.9)


def mixed(x, y, alpha=1.0):
    lam = np.random.beta(alpha, alpha)
    index = torch.randperm(x.size(0))
    return lam * x + (1 - lam) * x[index, :], y, y[index], lam, index


for epoch in range(2):
    total = 0
    for inputs, targets in loader:
        inputs, first, second, lam, index = mixed(inputs, targets)
        pasted = inputs.clone()
        pasted[:, :8] = inputs[index, :8]
        hidden = body(pasted)
        hidden = 0.5 * hidden + 0.5 * hidden[np.random.permutation(len(hidden))]
        outputs = head(hidden)
        loss = lam * criterion(outputs, first) + (1 - lam) * criterion(outputs, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print("epoch", epoch, "loss", total / len(loader))
