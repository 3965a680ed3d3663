"""The same with gradients averaged by hand, parameter by parameter."""

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(5)
x = torch.randn(96, 5)
y = x @ torch.randn(5, 1) * 4 + torch.randn(96, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 1))
for parameter in model.parameters():
    dist.broadcast(parameter.data, 0)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 / (1 + step / 10))


def average():
    for parameter in model.parameters():
        gradient = parameter.grad
        dist.all_reduce(gradient)
        gradient /= size


sampler = loader.batch_sampler


class Parts:
    def __iter__(self):
        for batch in sampler:
            start, stop = rank * len(batch) // size, (rank + 1) * len(batch) // size
            self.weight = (stop - start) * size / len(batch)
            yield batch[start:stop]


parts = Parts()
loader = DataLoader(loader.dataset, batch_sampler=parts)
for epoch in range(2):
    seen = 0.0
    for number, (a, b) in enumerate(loader):
        loss = nn.functional.mse_loss(model(a), b) / 2 * parts.weight
        loss.backward()
        value = loss.detach() / size
        dist.all_reduce(value)
        seen += value.item()
        if (number + 1) % 2 == 0:
            average()
            nn.utils.clip_grad_norm_(model.parameters(), 8.0)
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
    if rank == 0:
        print("epoch", epoch, "loss", seen)
if rank == 0:
    torch.save({"model": model.state_dict(), "epoch": epoch}, "last.pt")
dist.destroy_process_group()
