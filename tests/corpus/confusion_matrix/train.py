"""Predictions and labels collected in lists, torch.cat, sklearn accuracy, F1 and confusion matrix."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.metrics import accuracy_score, confusion_matrix, f1_score
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
digits = load_digits(n_class=4)
X = torch.tensor(digits.data, dtype=torch.float64) / 16
y = torch.tensor(digits.target, dtype=torch.long)
train_dl = DataLoader(TensorDataset(X[:350], y[:350]), batch_size=48, shuffle=True)
test_dl = DataLoader(TensorDataset(X[350:600], y[350:600]), batch_size=48, shuffle=False)

model = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 4)).double()
optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
criterion = nn.CrossEntropyLoss()


def predict(model, loader):
    model.eval()
    preds, labels = [], []
    with torch.inference_mode():
        for xb, yb in loader:
            preds.append(model(xb).argmax(dim=1).cpu())
            labels.append(yb.cpu())
    return torch.cat(preds), torch.cat(labels)


for epoch in range(3):
    model.train()
    y_true, y_pred = [], []
    for xb, yb in train_dl:
        optimizer.zero_grad()
        out = model(xb)
        loss = criterion(out, yb)
        loss.backward()
        optimizer.step()
        y_true.extend(yb.tolist())
        y_pred.extend(out.argmax(1).tolist())
    preds, labels = predict(model, test_dl)
    print('Epoch', epoch,
          'train acc %.4f' % accuracy_score(y_true, y_pred),
          'test acc %.4f' % accuracy_score(labels.numpy(), preds.numpy()),
          'test f1 %.6f' % f1_score(labels.numpy(), preds.numpy(), average='macro'))

print(confusion_matrix(labels, preds))
np.save('predictions.npy', preds.numpy())
