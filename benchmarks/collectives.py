"""What a message between two workers of one machine costs: through shared memory, and with gloo.

    python benchmarks/collectives.py                     wants as many idle cores as workers
    python benchmarks/collectives.py --rounds 3 --json

Sums over workers of several sizes. Every worker computes for a moment before each, as it does in
training, and the moment is not counted. The two ways take turns, and each round yields a ratio of
its own; the median of those is what counts.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from turns import free_port

SIZES = (8, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 85_000_000)
BACKENDS = ("machine", "gloo")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure sums over workers of one machine.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.measure:
        measure()
        return
    rounds = []
    for number in range(args.rounds):
        rounds.append({backend: start(backend, args.workers) for backend in BACKENDS})
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr)
    rows = []
    for size in map(str, SIZES):
        times = {backend: median(one[backend][size] for one in rounds) for backend in BACKENDS}
        ratio = median(one["gloo"][size] / one["machine"][size] for one in rounds)
        rows.append({"bytes": int(size), **times, "ratio": ratio})
    if args.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{'bytes':>12}{'memory (ms)':>14}{'gloo (ms)':>14}{'gloo / memory':>16}")
    for row in rows:
        print(f"{row['bytes']:12,}{row['machine']:14.3f}{row['gloo']:14.3f}{row['ratio']:16.1f}")


def start(backend: str, workers: int) -> dict[str, float]:
    """Milliseconds for a sum of each size, as the first worker sees them."""
    port = str(free_port())
    processes = []
    for rank in range(workers):
        environment = os.environ | dict.fromkeys(("RANK", "LOCAL_RANK"), str(rank))
        environment |= dict.fromkeys(("WORLD_SIZE", "LOCAL_WORLD_SIZE"), str(workers))
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        environment |= {"OMP_NUM_THREADS": "1", "TRAINERA_BACKEND": backend}
        command = [sys.executable, str(Path(__file__).resolve()), "--measure"]
        process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        processes.append(process)
    try:
        out, _ = processes[0].communicate(timeout=300)
        for process in processes:
            process.wait(60)
    finally:
        for process in processes:
            process.kill()
            process.wait()
    found: dict[str, float] = json.loads(out)
    return found


def measure() -> None:
    """One worker."""
    import torch
    import torch.distributed as dist

    from trainera import crew

    crew.join()
    assert dist.get_backend() == os.environ["TRAINERA_BACKEND"]
    work = torch.randn(256, 256)
    found = {}
    for size in SIZES:
        tensor = torch.ones(max(1, size // 4))
        spent = []
        for _ in range(9 if size > 1_000_000 else 60):
            for _ in range(10):
                work @ work
            began = time.perf_counter()
            dist.all_reduce(tensor)
            spent.append((time.perf_counter() - began) * 1e3)
            tensor.fill_(1.0)
        found[str(size)] = median(spent)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
