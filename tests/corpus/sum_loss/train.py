"""A loss that is summed over the batch: nn.MSELoss(reduction="sum"); L1 metric on the test set."""
import math

import torch
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)

# fit y = sin(x) with a polynomial, in mini-batches
x = torch.linspace(-math.pi, math.pi, 500, dtype=torch.float64)
y = torch.sin(x)
p = torch.tensor([1, 2, 3])
xx = x.unsqueeze(-1).pow(p)
perm = torch.randperm(500)
train_loader = DataLoader(TensorDataset(xx[perm[:400]], y[perm[:400]]), batch_size=50, shuffle=True)
test_loader = DataLoader(TensorDataset(xx[perm[400:]], y[perm[400:]]), batch_size=50)

model = torch.nn.Sequential(
    torch.nn.Linear(3, 1),
    torch.nn.Flatten(0, 1)
).double()
loss_fn = torch.nn.MSELoss(reduction='sum')
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)

for t in range(8):
    sse = 0.0
    for xb, yb in train_loader:
        y_pred = model(xb)
        loss = loss_fn(y_pred, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        sse += loss.item()

    mae = 0.0
    with torch.no_grad():
        for xb, yb in test_loader:
            mae += torch.abs(model(xb) - yb).sum().item()
    print(t, 'sum of squares', round(sse, 9), 'test mae', mae / len(test_loader.dataset))

linear_layer = model[0]
print(f'Result: y = {linear_layer.bias.item():.8f} + {linear_layer.weight[:, 0].item():.8f} x + '
      f'{linear_layer.weight[:, 1].item():.8f} x^2 + {linear_layer.weight[:, 2].item():.8f} x^3')
