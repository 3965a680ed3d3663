"""What it is worth to have the allocator keep the memory that a step frees.

    python benchmarks/allocator.py                    wants two idle cores
    python benchmarks/allocator.py mnist_mlp --starts 9 --json

One worker and two workers, with the allocator as the system has it and as ``trainera run`` has it,
take turns, epoch by epoch (see turns.py). What the system's allocator does depends on where a
process happens to begin, so everything is started several times.
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from statistics import median, quantiles

from efficiency import FOLDER
from turns import Turns, Version, convert, places_of, take_turns

CREWS = (1, 2)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the allocator's part in a step.")
    parser.add_argument("workloads", nargs="*", default=["fish_resnet34", "mnist_cnn"])
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    if args.starts < 2 or args.rounds < 1:
        parser.error("needs two starts, and a round")
    found = {name: measure(name, args.starts, args.rounds) for name in args.workloads}
    if args.json:
        print(json.dumps(found, indent=2))
        return
    for name, crews in found.items():
        for workers, figures in crews.items():
            print(as_text(f"{name}, {workers} worker{'s' * (workers > 1)}", figures))


def measure(workload: str, starts: int, rounds: int) -> dict[int, dict[str, list[float]]]:
    """By the number of workers: of each start the ratio of the times, and of the peaks."""
    print(workload, file=sys.stderr)
    found: dict[int, dict[str, list[float]]] = {n: {"speed": [], "peak": []} for n in CREWS}
    with tempfile.TemporaryDirectory() as folder:
        script = convert(FOLDER / f"{workload}.py", "ddp", Path(folder))
        for _ in range(starts):
            turns = one_start(script, rounds)
            for workers, figures in found.items():
                ours, theirs = f"{workers} keep", f"{workers} give back"
                times = zip(turns.epochs_s[ours], turns.epochs_s[theirs], strict=True)
                figures["speed"].append(median(its / mine for mine, its in times))
                peaks = turns.ends[ours].peak_mib, turns.ends[theirs].peak_mib
                figures["peak"].append(peaks[0] / peaks[1])
    return found


def one_start(script: Path, rounds: int) -> Turns:
    """Both allocators with one and with two workers."""
    with ExitStack() as stack:
        versions = {}
        for workers in CREWS:
            for name, keeps in (("keep", True), ("give back", False)):
                places = stack.enter_context(places_of("ddp", workers))
                versions[f"{workers} {name}"] = Version(
                    script=script,
                    places=[{**place, "PYTHONPATH": str(FOLDER)} for place in places],
                    keeps_memory=keeps,
                )
        return take_turns(versions, rounds, ["--size", "tiny"])


def as_text(name: str, figures: dict[str, list[float]]) -> str:
    """For a person."""
    low, middle, high = quantiles(figures["speed"], method="inclusive")
    return (
        f"{name}: {middle:.2f} times as fast, quartiles {low:.2f}–{high:.2f}, with "
        f"{median(figures['peak']):.2f} of the peak memory"
    )


if __name__ == "__main__":
    main()
