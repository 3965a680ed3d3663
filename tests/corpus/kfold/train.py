"""Cross-validation: model, optimizer and loaders are made anew in a loop over folds; results go to JSON."""
import json

import numpy as np
import torch
from sklearn.model_selection import KFold
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(14)
torch.set_default_dtype(torch.float64)
x = torch.randn(150, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
dataset = TensorDataset(x, y)

results = {}
for fold, (train_ids, test_ids) in enumerate(KFold(n_splits=3, shuffle=True, random_state=0).split(np.arange(150))):
    train_loader = DataLoader(Subset(dataset, train_ids), batch_size=16, shuffle=True)
    test_loader = DataLoader(Subset(dataset, test_ids), batch_size=16)
    network = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(network.parameters(), lr=0.01)
    loss_function = nn.CrossEntropyLoss()

    for epoch in range(3):
        current_loss = 0.0
        for i, (inputs, targets) in enumerate(train_loader):
            optimizer.zero_grad()
            outputs = network(inputs)
            loss = loss_function(outputs, targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()
        print('fold %d epoch %d loss %.10f' % (fold, epoch, current_loss / (i + 1)))

    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets in test_loader:
            outputs = network(inputs)
            _, predicted = torch.max(outputs.data, 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    results[fold] = 100.0 * correct / total
    print('Accuracy for fold %d: %.4f %%' % (fold, results[fold]))

print('Average: %.6f %%' % (sum(results.values()) / len(results)))
with open('folds.json', 'w') as f:
    json.dump(results, f)
