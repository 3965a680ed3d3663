"""An imbalanced problem: WeightedRandomSampler and an F1 score from tp, fp and fn counts."""
import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

SEED = 99
torch.manual_seed(SEED)
np.random.seed(SEED)

# 1 positive in 10
n = 600
labels = (np.random.rand(n) < 0.1).astype(np.int64)
features = np.random.randn(n, 10) + labels[:, None] * 1.0

train_x, test_x = torch.from_numpy(features[:400]), torch.from_numpy(features[400:])
train_y, test_y = torch.from_numpy(labels[:400]).double(), torch.from_numpy(labels[400:]).double()

class_count = np.bincount(labels[:400])
weights = 1.0 / class_count[labels[:400]]
sampler = WeightedRandomSampler(weights, num_samples=len(weights), replacement=True)

train_dl = DataLoader(TensorDataset(train_x, train_y), batch_size=30, sampler=sampler)
test_dl = DataLoader(TensorDataset(test_x, test_y), batch_size=50)

model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1)).double()
criterion = nn.BCEWithLogitsLoss()
optimizer = optim.Adam(model.parameters(), lr=0.01)

for epoch in range(4):
    model.train()
    losses = []
    positives = 0
    for x, y in train_dl:
        optimizer.zero_grad()
        logits = model(x).squeeze(1)
        loss = criterion(logits, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        positives += int(y.sum().item())

    model.eval()
    tp = fp = fn = 0
    with torch.no_grad():
        for x, y in test_dl:
            pred = (torch.sigmoid(model(x).squeeze(1)) > 0.5).double()
            tp += ((pred == 1) & (y == 1)).sum().item()
            fp += ((pred == 1) & (y == 0)).sum().item()
            fn += ((pred == 0) & (y == 1)).sum().item()
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    print(f"Epoch {epoch}: loss={np.mean(losses):.10f} positives drawn={positives} "
          f"precision={precision:.4f} recall={recall:.4f} f1={f1:.4f}")
