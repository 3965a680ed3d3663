# -*- coding: utf-8 -*-
"""Tabs, CRLF line ends, non-ASCII names, semicolons and backslashes: the layout must survive."""
import torch; import torch.nn as nn
from torch.utils.data import (
	DataLoader,   # the loader
	TensorDataset,
)

torch.manual_seed(0)
η = 0.1   # the learning rate, „eta“
n_épocas = 3

données = torch.randn(95, 4, dtype=torch.float64); étiquettes = (données[:, 0] > 0).long()
loader = \
	DataLoader(TensorDataset(données, étiquettes),
	           batch_size = 12,
	           shuffle    = True)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).double()
opt = torch.optim.SGD(model.parameters(), lr=η); criterion = nn.CrossEntropyLoss()

for época in range(n_épocas):
	somme = 0.; n = 0
	for x, y in loader:
		opt.zero_grad(); ŷ = model(x)
		loss = criterion(ŷ, y) ; loss.backward(); opt.step()
		somme += loss.item() * len(x) ; n += len(x)
	if n: print("época", época, "→", "%.12f" \
		% (somme / n))
	
print("fin ✓")