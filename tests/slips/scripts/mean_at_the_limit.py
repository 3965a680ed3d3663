import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(3)
labels = torch.tensor([0, 2, 1, 2, 1, 2, 2, 0, 1, 1, 0, 1, 2, 1, 2])
loader = DataLoader(TensorDataset(torch.randn(15, 4), labels), 5)
model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for x, y in loader:
    if y.double().mean().item() > 1.2:
        print("skipped")
        continue
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    print(loss.item())
