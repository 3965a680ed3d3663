# refused: a parameter that belongs to no network is trained: nobody averages its gradients
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x = torch.randn(96, 5)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=16, shuffle=True)
model = nn.Linear(5, 1)
temperature = nn.Parameter(torch.ones(()))
optimizer = torch.optim.SGD([*model.parameters(), temperature], lr=0.01)
for epoch in range(2):
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb) * temperature, yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, temperature.item())
