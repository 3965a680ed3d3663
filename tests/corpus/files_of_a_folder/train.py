"""Data in files of a folder, found by comprehensions, generators, filter and glob; runs are numbered."""
import glob
import itertools
import os
from pathlib import Path

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(3)
torch.set_default_dtype(torch.float64)
root = "parts"
os.makedirs(os.path.join(root, "nested"), exist_ok=True)
for i in range(4):
    x = torch.randn(9 + i, 5)
    torch.save({"x": x, "y": x.sum(1, keepdim=True)}, os.path.join(root, f"part{i}.pt"))


class Parts(Dataset):
    def __init__(self, root):
        files = [f for f in os.listdir(root) if os.path.isfile(os.path.join(root, f))]
        parts = [torch.load(os.path.join(root, f)) for f in sorted(files)]
        self.x = torch.cat([part["x"] for part in parts])
        self.y = torch.cat([part["y"] for part in parts])

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


folders = sorted(str(p) for p in Path(root).iterdir() if p.is_dir())
newest = next((f for f in glob.glob("run_*/loss.pt") if os.path.exists(f)), None)
number = next(i for i in itertools.count() if not os.path.exists(f"run_{i}"))
found = list(filter(os.path.isfile, sorted(glob.glob(root + "/*"))))
print(folders, newest, number, found, sum(os.path.getsize(f) > 0 for f in found))
if any(os.path.exists(f) for f in ("model.pt", "model.pth")):
    print("there is a model")

loader = DataLoader(Parts(root), batch_size=8, shuffle=True)
model = nn.Linear(5, 1)
for f in filter(os.path.isfile, glob.glob("model.p*")):
    model.load_state_dict(torch.load(f))
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
losses = []
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.step()
    losses.append(loss.item())
    print(f"epoch {epoch}: {losses[-1]:.10f}")
os.makedirs(f"run_{number}")
torch.save(losses, f"run_{number}/loss.pt")
torch.save(model.state_dict(), "model.pt")
