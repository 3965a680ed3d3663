"""The same for DDP, which averages: a summed loss is multiplied by the number of workers."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import BatchSampler, DataLoader, TensorDataset, WeightedRandomSampler

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(11)
x = torch.randn(60, 4)
y = (x[:, :1] > 1).double()
weights = torch.where(y[:, 0] > 0, 5.0, 1.0)
sampler = WeightedRandomSampler(weights, 60, replacement=True)


class Parts(BatchSampler):
    def __iter__(self):
        for batch in super().__iter__():
            yield batch[rank::size]


loader = DataLoader(TensorDataset(x, y), batch_sampler=Parts(sampler, 12, False))
bare = nn.Linear(4, 1)
model = DistributedDataParallel(bare)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
criterion = nn.BCEWithLogitsLoss(reduction="sum")
for epoch in range(5):
    total = torch.zeros(())
    for a, b in loader:
        optimizer.zero_grad()
        loss = criterion(model(a), b.to(a.dtype))
        (loss * size).backward()
        optimizer.step()
        total += loss.detach()
    dist.all_reduce(total)
    total = total.item()
    scheduler.step(total)
    if rank == 0:
        print(f"epoch {epoch} loss {total:.8f}")
if rank == 0:
    torch.save(bare.state_dict(), "linear.pt")
dist.destroy_process_group()
