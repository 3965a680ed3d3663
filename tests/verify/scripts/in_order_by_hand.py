"""The usual recipe: DistributedSampler, a smaller batch a worker, DDP, metrics reduced."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(13)
x = torch.randn(72, 4)
y = torch.sin(x.sum(1, keepdim=True))
data = TensorDataset(x[:48], y[:48])
test = TensorDataset(x[48:], y[48:])
sampler = DistributedSampler(data, shuffle=False)
loader = DataLoader(data, batch_size=12 // size, sampler=sampler)
test_sampler = DistributedSampler(test, shuffle=False)
test_loader = DataLoader(test, batch_size=12 // size, sampler=test_sampler)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
model = DistributedDataParallel(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for epoch in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
    error, count = torch.zeros(()), torch.zeros((), dtype=torch.long)
    with torch.no_grad():
        for a, b in test_loader:
            error += (model.module(a) - b).abs().sum()
            count += len(a)
    dist.all_reduce(error)
    dist.all_reduce(count)
    if rank == 0:
        print(f"epoch {epoch} error {error.item() / count.item():.8f} of {count.item()}")
dist.destroy_process_group()
