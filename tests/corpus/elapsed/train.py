"""Time is measured and printed: the lines that say "elapsed" differ from run to run, the others do not."""
import time
import torch, torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
x = torch.randn(120, 3, dtype=torch.float64)
y = x.prod(dim=1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(3, 16), nn.SiLU(), nn.Linear(16, 1)).double()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.MSELoss()

start = time.time()
for epoch in range(3):
    t0 = time.perf_counter()
    epoch_loss = 0
    for xb, yb in loader:
        opt.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        opt.step()
        epoch_loss += loss.item() * len(xb)
    print(f"epoch {epoch} loss {epoch_loss / len(x):.12f}")
    print(f"  elapsed {time.perf_counter() - t0:.4f} s")
print("elapsed in all", round(time.time() - start, 3))
