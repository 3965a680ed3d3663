import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
import numpy as np
x = torch.randn(22, 6); y = x.sum(1)
loader = DataLoader(TensorDataset(x, y), batch_size=5)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    mae = 0.0
    for a, b in loader:
        out = model(a)
        loss = F.mse_loss(out, b.view(-1, 1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        mae += np.abs(out.detach().numpy() - b.numpy()).mean()
        print(loss.item(), np.mean((out.detach().numpy() - b.numpy()) ** 2))
    print(mae)
torch.save(model.state_dict(), "model.pt")
