"""A budget of steps, not of epochs: next(iterator) that is started anew when the loader is exhausted."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(60)
torch.set_default_dtype(torch.float64)

X = torch.randn(110, 6)
Y = X.cumsum(dim=1).tanh()
loader = DataLoader(TensorDataset(X, Y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

max_iters = 30
log_interval = 5
running = 0.0

data_iter = iter(loader)
for it in range(1, max_iters + 1):
    try:
        x, y = next(data_iter)
    except StopIteration:
        data_iter = iter(loader)
        x, y = next(data_iter)

    # linear warmup
    for group in optimizer.param_groups:
        group["lr"] = 1e-2 * min(1.0, it / 10)

    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

    running += loss.item()
    if it % log_interval == 0:
        print(f"iter {it:3d} | loss {running / log_interval:.12f}")
        running = 0.0

torch.save(model.state_dict(), "steps.pt")
