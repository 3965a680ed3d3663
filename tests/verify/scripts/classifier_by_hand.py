"""The classifier for DDP: every worker takes its part of each batch, and counts by its size."""

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset, random_split

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(3)
points = torch.randn(118, 6)
labels = (points[:, 0] * points[:, 1] > 0).long()
training, validation = random_split(TensorDataset(points, labels), [95, 23])
train_loader = DataLoader(training, batch_size=16, shuffle=True)
val_loader = DataLoader(validation, batch_size=10)
bare = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 2))
model = DistributedDataParallel(bare)
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, gamma=0.5)


class Parts:
    """Gives each worker every size-th sample of each batch."""

    def __init__(self, loader):
        self.sampler = loader.batch_sampler

    def __iter__(self):
        for batch in self.sampler:
            self.whole = len(batch)
            yield batch[rank::size]


train_parts = Parts(train_loader)
train_loader = DataLoader(training, batch_sampler=train_parts)
val_loader = DataLoader(validation, batch_sampler=Parts(val_loader))


def over_all(value):
    value = torch.tensor(value, dtype=torch.float64)
    dist.all_reduce(value)
    return value.item()


best, waited = float("inf"), 0
for epoch in range(8):
    model.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss = loss * len(y) * size / train_parts.whole
        loss.backward()
        optimizer.step()
    scheduler.step()
    model.eval()
    total, correct = 0.0, 0
    with torch.no_grad():
        for x, y in val_loader:
            out = bare(x)
            total += nn.functional.cross_entropy(out, y, reduction="sum").item()
            correct += (out.argmax(1) == y).sum().item()
    total = over_all(total)
    correct = over_all(correct)
    total /= len(validation)
    if rank == 0:
        print(f"epoch {epoch} validation {total:.10f} accuracy {correct / len(validation):.6f}")
    if total < best:
        best, waited = total, 0
        if rank == 0:
            torch.save(bare.state_dict(), "best.pt")
    else:
        waited += 1
        if waited == 1:
            if rank == 0:
                print("stop")
            break
dist.destroy_process_group()
