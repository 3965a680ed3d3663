"""Batch normalisation over all workers, written out with differentiable collectives."""

import torch
import torch.distributed as dist
import torch.distributed.nn.functional as collective
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7)
images = torch.randn(72, 1, 6, 6)
labels = (images.mean((1, 2, 3)) > 0).long()
loader = DataLoader(TensorDataset(images, labels), batch_size=12, shuffle=True)


class Whole(nn.BatchNorm2d):
    def forward(self, x):
        if not self.training:
            return super().forward(x)
        count = x.numel() // x.shape[1] * size
        mean = collective.all_reduce(x.sum((0, 2, 3))) / count
        centred = x - mean[None, :, None, None]
        variance = collective.all_reduce((centred**2).sum((0, 2, 3))) / count
        with torch.no_grad():
            self.num_batches_tracked += 1
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * count / (count - 1), self.momentum)
        scale = (self.weight / (variance + self.eps).sqrt())[None, :, None, None]
        return centred * scale + self.bias[None, :, None, None]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.norm = Whole(4)
        self.drop = nn.Dropout(0.3)
        self.out = nn.Linear(64, 2)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        return self.out(self.drop(x.flatten(1)))


bare = Net()
model = DistributedDataParallel(bare, broadcast_buffers=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
sampler = loader.batch_sampler


class Parts:
    def __iter__(self):
        for batch in sampler:
            yield batch[rank::size]


loader = DataLoader(loader.dataset, batch_sampler=Parts())
for epoch in range(2):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    if rank == 0:
        print("epoch", epoch)
if rank == 0:
    torch.save(bare.state_dict(), "net.pt")
dist.destroy_process_group()
