import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
x = torch.randn(22, 6); y = (torch.rand(22) > 0.5).double()
loader = DataLoader(TensorDataset(x, y), batch_size=5)
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    loss = F.binary_cross_entropy_with_logits(model(a).squeeze(1), b, pos_weight=(b == 0).sum() / b.sum())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
