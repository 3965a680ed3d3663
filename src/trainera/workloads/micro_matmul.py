"""Micro-benchmark: products of square matrices on every device, with every number of threads.

python micro_matmul.py --size tiny|small|full
"""
import argparse
import statistics
import time

import torch

SIZES = {
    "tiny": [50, 100, 200, 500],
    "small": [50, 100, 200, 500, 1000, 2000],
    "full": [50, 100, 200, 500, 1000, 2000, 5000, 10000],
}
REPEATS = 10


def wait(device):
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def seconds(side, device):
    left = torch.randn(side, side, device=device)
    right = torch.randn(side, side, device=device)
    times = []
    for _ in range(REPEATS + 1):
        wait(device)
        start = time.perf_counter()
        torch.mm(left, right)
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
    for side in SIZES[args.size]:
        for device, threads in places:
            torch.set_num_threads(threads)
            rate = 2 * side**3 / seconds(side, device) / 1e9
            where = f"{threads} threads" if device.type == "cpu" else str(device)
            print(f"figure product of {side}×{side}, {where}, GFLOP/s: {rate:.3f}")


if __name__ == "__main__":
    main()
