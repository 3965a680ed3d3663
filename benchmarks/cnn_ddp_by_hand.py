"""cnn.py made parallel by hand, the way PyTorch's own documentation teaches it.

    torchrun --nproc-per-node 2 cnn_ddp_by_hand.py --epochs 4 --batch-size 128 --samples 4096

What the converted script is measured against. The network, the data and the batch that all
workers share are those of cnn.py; only what a person has to write for DDP differs.
"""

import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from cnn import CLASSES, Net, Shapes
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, Subset


def evaluate(model: nn.Module, loader: DataLoader[tuple[torch.Tensor, int]]) -> tuple[float, float]:
    model.eval()
    loss_sum = 0.0
    correct = 0
    total = 0
    with torch.no_grad():
        for images, labels in loader:
            outputs = model(images)
            loss_sum += F.cross_entropy(outputs, labels, reduction="sum").item()
            correct += (outputs.argmax(1) == labels).sum().item()
            total += labels.size(0)
    sums = torch.tensor([loss_sum, correct, total], dtype=torch.float64)
    dist.all_reduce(sums)
    return (sums[0] / sums[2]).item(), (sums[1] / sums[2]).item()


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a small CNN on generated images.")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--samples", type=int, default=4096)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(0)
    patterns = torch.randn(CLASSES, 3, 32, 32)
    train_set = Shapes(args.samples, patterns, train=True)
    test_set = Shapes(args.samples // 8, patterns, train=False)
    sampler: DistributedSampler[tuple[torch.Tensor, int]] = DistributedSampler(train_set)
    train_loader = DataLoader(train_set, batch_size=args.batch_size // size, sampler=sampler)
    # Not a DistributedSampler: it would count some images twice to make the parts equal.
    test_part = Subset(test_set, range(rank, len(test_set), size))
    test_loader = DataLoader(test_part, batch_size=args.batch_size // size)

    model: nn.Module = DistributedDataParallel(Net())
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    torch.manual_seed(1 + rank)  # each worker mirrors and drops out on its own

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        running_loss = 0.0
        correct = 0
        for images, labels in train_loader:
            optimizer.zero_grad()
            outputs = model(images)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item() * labels.size(0)
            correct += (outputs.argmax(1) == labels).sum().item()
        sums = torch.tensor([running_loss, correct], dtype=torch.float64)
        dist.all_reduce(sums)
        if rank == 0:
            print(
                f"epoch {epoch + 1}: loss {sums[0] / len(train_set):.4f}, "
                f"accuracy {sums[1] / len(train_set):.4f}"
            )
        test_loss, test_accuracy = evaluate(model, test_loader)
        if rank == 0:
            print(f"test loss {test_loss:.4f}, accuracy {test_accuracy:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
