"""Trains on one process, or on several if a flag says so."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

torch.set_default_dtype(torch.float64)


def is_distributed():
    return dist.is_available() and dist.is_initialized()


def world_size():
    if not is_distributed():
        return 1
    return dist.get_world_size()


def is_main():
    return not dist.is_initialized() or dist.get_rank() == 0


def reduced(value):
    if world_size() < 2:
        return value
    with torch.no_grad():
        dist.all_reduce(value)
    return value / world_size()


def setup(args):
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        args.rank = int(os.environ["RANK"])
        args.world_size = int(os.environ["WORLD_SIZE"])
    elif args.distributed:
        args.rank, args.world_size = 0, 2
    else:
        print("one process")
        args.distributed = False
        return
    args.distributed = True
    dist.init_process_group("gloo", rank=args.rank, world_size=args.world_size)
    dist.barrier()


def main(gpu, args):
    setup(args)
    torch.manual_seed(1)
    x = torch.randn(50, 4)
    data = TensorDataset(x, (x.sum(1) > 0).long())
    sampler = DistributedSampler(data) if args.distributed else None
    loader = DataLoader(data, batch_size=8, shuffle=(sampler is None), sampler=sampler)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    if args.distributed:
        model = nn.SyncBatchNorm.convert_sync_batchnorm(model)
        model = DDP(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(3):
        if args.distributed:
            sampler.set_epoch(epoch)
        total = 0.0
        for images, labels in loader:
            loss = nn.functional.cross_entropy(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += reduced(loss).item()
        if is_main():
            print(f"epoch {epoch}: {total / len(loader):.12f}")
    if is_main():
        bare = model.module if isinstance(model, DDP) else model
        torch.save(bare.state_dict(), "model.pt")
    if args.distributed:
        dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--distributed", action="store_true")
    parser.add_argument("--spawn", action="store_true")
    args = parser.parse_args()
    if args.spawn:
        mp.spawn(main, nprocs=2, args=(args,))
    else:
        main(0, args)
