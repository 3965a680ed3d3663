import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)

x = torch.randn(22, 6)
y = torch.randint(0, 4, (22,))
train_set = TensorDataset(x, y)
loader = DataLoader(train_set, batch_size=5, shuffle=True)
model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
for k, v in {"label_smoothing": 0.1, "ignore_index": 2}.items():
    setattr(criterion, k, v)
for a, b in loader:
    loss = criterion(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
