"""The logging module to stdout and to a file, and a CSV history that is opened with "a" every epoch."""
import csv
import logging
import os
import sys

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(
    level=logging.INFO,
    format="%(levelname)s %(message)s",
    handlers=[logging.FileHandler("train.log", mode="w"), logging.StreamHandler(sys.stdout)],
)
logger = logging.getLogger(__name__)

rng = np.random.default_rng(8)
torch.manual_seed(8)

X = rng.normal(size=(260, 4))
Y = (np.abs(X).sum(axis=1) > 3.0).astype("float64")
train_loader = DataLoader(
    TensorDataset(torch.from_numpy(X[:180]), torch.from_numpy(Y[:180])), batch_size=25, shuffle=True
)
valid_loader = DataLoader(
    TensorDataset(torch.from_numpy(X[180:]), torch.from_numpy(Y[180:])), batch_size=25
)
logger.info("train batches %d, valid batches %d", len(train_loader), len(valid_loader))

model = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 1), nn.Sigmoid()).double()
bce = nn.BCELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)

history_file = "history.csv"
if os.path.isfile(history_file):
    os.remove(history_file)

for epoch in range(1, 5):
    model.train()
    train_losses = []
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = bce(model(x).squeeze(-1), y)
        loss.backward()
        optimizer.step()
        train_losses.append(loss.item())
    train_loss = np.mean(train_losses)

    model.eval()
    valid_losses, hits = [], 0
    with torch.no_grad():
        for x, y in valid_loader:
            p = model(x).squeeze(-1)
            valid_losses.append(bce(p, y).item())
            hits += ((p > 0.5) == (y > 0.5)).sum().item()
    valid_loss = np.mean(valid_losses)
    valid_acc = hits / len(valid_loader.dataset)
    logger.info("epoch %d train %.10f valid %.10f acc %.4f", epoch, train_loss, valid_loss, valid_acc)

    with open(history_file, "a", newline="") as f:
        writer = csv.writer(f)
        if f.tell() == 0:
            writer.writerow(["epoch", "train_loss", "valid_loss", "valid_acc"])
        writer.writerow([epoch, f"{train_loss:.10f}", f"{valid_loss:.10f}", valid_acc])

logger.warning("done")
