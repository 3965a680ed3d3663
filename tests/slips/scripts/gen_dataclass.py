import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset, TensorDataset

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
from dataclasses import dataclass

@dataclass
class Batch:
    inputs: torch.Tensor
    targets: torch.Tensor
    index: int

x = torch.randn(23, 6)
y = torch.randint(0, 4, (23,))
loader = DataLoader(TensorDataset(x, y), batch_size=5, shuffle=True)

def batches():
    for i, (a, b) in enumerate(loader):
        yield Batch(a, b, i)

model = nn.Linear(6, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(2):
    for batch in batches():
        out = model(batch.inputs)
        loss = F.cross_entropy(out, batch.targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc = (out.argmax(1) == batch.targets).double().mean()
        print(batch.index, loss.item(), acc.item(), len(batch.targets))
torch.save(model.state_dict(), "model.pt")
