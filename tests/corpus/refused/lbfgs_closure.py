# refused: LBFGS calls a closure several times in a step; its line search looks at the loss of the whole batch
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
x = torch.linspace(-2, 2, 120).unsqueeze(1)
loader = DataLoader(TensorDataset(x, x.sin()), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, line_search_fn="strong_wolfe")

for epoch in range(3):
    for xb, yb in loader:
        def closure():
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            return loss
        loss = optimizer.step(closure)
    print(epoch, loss.item())
