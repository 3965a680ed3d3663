import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
class Recorder:
    current = None
    def __enter__(self): self.vals = []; Recorder.current = self; return self
    def __exit__(self, *a): Recorder.current = None
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.fc = nn.Linear(6, 4)
    def forward(self, x):
        h = self.fc(x)
        if Recorder.current is not None:
            Recorder.current.vals.append(h.pow(2).sum())
        return h
model = Net()
x = torch.randn(22, 6); y = torch.randint(0, 4, (22,))
loader = DataLoader(TensorDataset(x, y), batch_size=5)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for a, b in loader:
    with Recorder() as rec:
        out = model(a)
    loss = F.cross_entropy(out, b) + 0.01 * sum(rec.vals)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
torch.save(model.state_dict(), "model.pt")
