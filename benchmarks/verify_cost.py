"""What `trainera verify` costs, against the two plain runs that it compares.

    python benchmarks/verify_cost.py                 wants two idle cores
    python benchmarks/verify_cost.py --rounds 3 --json

Plain runs and verifications take turns; the median of the rounds' ratios counts. Memory is the
largest of any worker: of a plain run, and of an observed one. Observed runs compute in float64, so
twice the memory for weights and activations is inherent.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

SCRIPT = Path(__file__).resolve().parent / "cnn.py"
TIME_GOAL = 3.0
MEMORY_GOAL = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what verifying costs.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    training = ["--", "--epochs", str(args.epochs), "--samples", "4096"]
    workers = ["-n", str(args.workers)]
    commands = {
        "sequential": [sys.executable, str(SCRIPT), *training[1:]],
        "parallel": [sys.executable, "-m", "trainera", "run", str(SCRIPT), *workers, *training],
        "verify": [sys.executable, "-m", "trainera", "verify", str(SCRIPT), *workers, *training],
    }
    times: list[float] = []
    memories: list[float] = []
    for number in range(args.rounds):
        seen = {name: measured(command) for name, command in commands.items()}
        times.append(seen["verify"][0] / (seen["sequential"][0] + seen["parallel"][0]))
        memories.append(seen["verify"][1] / max(seen["sequential"][1], seen["parallel"][1]))
        said = f"round {number + 1}: time {times[-1]:.2f}, memory {memories[-1]:.2f}"
        print(said, file=sys.stderr, flush=True)
    result = {"time_ratio": median(times), "memory_ratio": median(memories)}
    if args.json:
        print(json.dumps({**result, "rounds": args.rounds}))
        return
    for name, value, goal in (
        ("time of verify / of both plain runs", result["time_ratio"], TIME_GOAL),
        ("peak memory of a worker, observed / plain", result["memory_ratio"], MEMORY_GOAL),
    ):
        met = "met" if value <= goal else "NOT met"
        print(f"{name:45} {value:.2f}   goal ≤ {goal:.0f}   {met}")


def measured(command: list[str]) -> tuple[float, float]:
    """Wall time, and the peak memory of the largest process that the command started."""
    with tempfile.TemporaryDirectory() as folder:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:  # a process of its own, because the system adds up children for ever
            began_s = time.monotonic()
            done = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=False)
            wall_s = time.monotonic() - began_s
            peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            os.write(writing, json.dumps([done.returncode, wall_s, peak]).encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as pipe:
            status, wall_s, peak = json.load(pipe)
        os.waitpid(child, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with status {status}")
    return wall_s, peak


if __name__ == "__main__":
    main()
