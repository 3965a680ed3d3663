"""An object of its own hands out batches for ever; the loop counts steps."""

import torch
from torch import nn
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

torch.set_default_dtype(torch.float64)
torch.manual_seed(0)


class Endless:
    """Batches for ever."""

    def __init__(self, dataset, **options):
        sampler = RandomSampler(dataset, replacement=True, num_samples=50)
        self.loader = DataLoader(dataset, sampler=sampler, **options)
        self.batches = iter(self.loader)

    def next(self):
        try:
            batch = next(self.batches)
        except StopIteration:
            self.batches = iter(self.loader)
            batch = next(self.batches)
        return batch


x = torch.randn(41, 3)
data = TensorDataset(x, x.sum(1, keepdim=True))
batches = Endless(data, batch_size=8)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
criterion = nn.MSELoss()
step = 0
while True:
    a, b = batches.next()
    loss = criterion(model(a), b)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.10f}")
    step += 1
    if step >= 30:
        break
torch.save(model.state_dict(), "model.pt")
