"""What it costs that random numbers are those of the sequential run (`--random exact`).

    python benchmarks/randomness.py                     wants two idle cores
    python benchmarks/randomness.py --size small --rounds 9 --json

Workloads with dropout, converted both ways: every worker draws for the whole batch, or for its own
samples only. The two take turns, epoch by epoch (see turns.py). Each round yields a ratio of its
own; the median of those is what counts.
"""

import argparse
import json
import os
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from turns import Version, convert, places_of, speed, take_turns

WORKLOADS = Path(__file__).resolve().parents[1] / "src" / "trainera" / "workloads"
NAMES = ("mnist_mlp", "fashion_cnn", "imdb_transformer")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what exact random numbers cost.")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--size", choices=("tiny", "small"), default="tiny")
    parser.add_argument("--workloads", nargs="+", choices=NAMES, default=NAMES)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    found = {name: measure(name, args.workers, args.rounds, args.size) for name in args.workloads}
    if args.json:
        print(json.dumps(found, indent=2))
        return
    print(f"{'workload':<20}{'speed exact / own':>20}{'quartiles':>16}{'':>10}")
    for name, row in found.items():
        print(f"{name:<20}{row['median']:20.3f}{row['low']:16.3f}{row['high']:10.3f}")


def measure(name: str, workers: int, rounds: int, size: str) -> dict[str, Any]:
    """The speed of the one in terms of the other's."""
    with ExitStack() as stack:
        versions = {}
        for random in ("exact", "own"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            script = convert(WORKLOADS / f"{name}.py", "ddp", folder, "--random", random)
            places = stack.enter_context(places_of("ddp", workers))
            beside = {"PYTHONPATH": os.pathsep.join([str(WORKLOADS), *sys.path])}
            places = [{**place, **beside} for place in places]
            versions[random] = Version(script=script, places=places)
        turns = take_turns(versions, rounds, ["--size", size])
    return asdict(speed(turns, "exact", "own"))


if __name__ == "__main__":
    main()
