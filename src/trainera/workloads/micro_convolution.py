"""Micro-benchmark: a training step of a convolution, 32 filters of 8×8 on images of 128×128.

On every device, with every number of threads.

python micro_convolution.py --size tiny|small|full
"""
import argparse
import statistics
import time

import torch
from torch import nn

SIZES = {
    "tiny": [20],
    "small": [20, 50, 100],
    "full": [20, 40, 60, 80, 100, 120, 140, 160, 180, 200],
}
REPEATS = 10


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds(count, device):
    images = torch.randn(count, 1, 128, 128, device=device)
    network = nn.Conv2d(1, 32, 8).to(device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01)
    times = []
    for _ in range(REPEATS + 1):
        wait(device)
        start = time.perf_counter()
        optimizer.zero_grad()
        network(images).square().mean().backward()
        optimizer.step()
        wait(device)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="tiny")
    args = parser.parse_args()
    torch.manual_seed(0)
    cores = torch.get_num_threads()
    places = [(torch.device("cpu"), threads) for threads in range(1, cores + 1)]
    places += [(torch.device("cuda", gpu), cores) for gpu in range(torch.cuda.device_count())]
    for count in SIZES[args.size]:
        for device, threads in places:
            torch.set_num_threads(threads)
            rate = count / seconds(count, device)
            where = f"{threads} threads" if device.type == "cpu" else str(device)
            print(f"figure step of {count} images, {where}, images/s: {rate:.1f}")


if __name__ == "__main__":
    main()
