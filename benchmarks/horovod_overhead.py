"""What conversion costs with Horovod, against Horovod by hand, and what DDP makes of the same.

    python benchmarks/horovod_overhead.py                     wants two idle cores
    python benchmarks/horovod_overhead.py --rounds 3 --json

Three versions of one training take turns: converted for ddp, converted for horovod, Horovod by
hand, and so on. Each round yields ratios of its own, and the median of those is what counts. See
overhead.py, which does the same for ddp alone.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean, median, quantiles

from overhead import SEQUENTIAL, THROUGHPUT_GOAL, Run, free_port, reap

from trainera.launch.horovod import meeting

BY_HAND = Path(__file__).resolve().parent / "horovod_by_hand.py"


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure converted scripts on Horovod.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=5, help="the first is not measured")
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    if args.rounds < 1 or args.epochs < 2 or args.batch_size % args.workers:
        parser.error("needs a round, two epochs, and a batch that the workers can share equally")
    training = ("--epochs", args.epochs, "--batch-size", args.batch_size, "--samples", args.samples)
    arguments = [str(word) for word in training]
    with tempfile.TemporaryDirectory() as name:
        scripts = {engine: convert(engine, Path(name)) for engine in ("ddp", "horovod")}
        rounds: list[dict[str, Run]] = []
        for number in range(args.rounds):
            runs = {
                "ddp": train_ddp(scripts["ddp"], arguments, args.workers),
                "horovod": train_horovod(scripts["horovod"], arguments, args.workers),
                "by_hand": train_horovod(BY_HAND, arguments, args.workers),
            }
            rounds.append(runs)
            ratio = runs["horovod"].samples_per_s / runs["by_hand"].samples_per_s
            print(f"round {number + 1} of {args.rounds}: {ratio:.3f}", file=sys.stderr)
    data = summary(rounds)
    if args.json:
        plain = [{name: asdict(run) for name, run in one.items()} for one in rounds]
        print(json.dumps(data | {"rounds": plain}, indent=2))
        return
    print(f"{'':10}{'samples/s':>12}{'MiB a worker':>14}{'CPU s a worker':>16}")
    for name in ("ddp", "horovod", "by_hand"):
        runs_of = [one[name] for one in rounds]
        speed = median(run.samples_per_s for run in runs_of)
        memory = median(run.peak_mib for run in runs_of)
        print(f"{name:10}{speed:12.1f}{memory:14.1f}{median(run.cpu_s for run in runs_of):16.1f}")
    low, middle, high = (data[f"ratio_{which}"] for which in ("low", "median", "high"))
    met = "yes" if data["met"] else "no"
    print(f"converted / by hand {middle:.3f} (quartiles {low:.3f}–{high:.3f})", end="")
    print(f", goal ≥ {THROUGHPUT_GOAL}: {met}; of CPU time {data['cpu_ratio']:.3f}")
    print(f"horovod / ddp       {data['horovod_to_ddp']:.3f}")


def summary(rounds: Sequence[Mapping[str, Run]]) -> dict[str, float | bool]:
    """The ratio within each round, summed up over the rounds."""
    ratios = [one["horovod"].samples_per_s / one["by_hand"].samples_per_s for one in rounds]
    low, middle, high = ratios * 3 if len(ratios) == 1 else quantiles(ratios, method="inclusive")
    return {
        "ratio_median": middle,
        "ratio_low": low,
        "ratio_high": high,
        "cpu_ratio": median(one["horovod"].cpu_s / one["by_hand"].cpu_s for one in rounds),
        "horovod_to_ddp": median(
            one["horovod"].samples_per_s / one["ddp"].samples_per_s for one in rounds
        ),
        "met": middle >= THROUGHPUT_GOAL,
    }


def convert(engine: str, folder: Path) -> Path:
    """Converts as a user does."""
    output = folder / f"cnn_{engine}.py"
    command = [sys.executable, "-m", "trainera", "convert", str(SEQUENTIAL)]
    command += ["--engine", engine, "-o", str(output)]
    subprocess.run(command, check=True, stdout=sys.stderr)
    return output


def train_ddp(script: Path, arguments: Sequence[str], workers: int) -> Run:
    common = {
        "WORLD_SIZE": str(workers),
        "LOCAL_WORLD_SIZE": str(workers),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(free_port()),
    }
    ranks = [{"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(workers)]
    return train(script, arguments, [common | rank for rank in ranks])


def train_horovod(script: Path, arguments: Sequence[str], workers: int) -> Run:
    with meeting(workers) as places:
        return train(script, arguments, places)


def train(script: Path, arguments: Sequence[str], places: Sequence[Mapping[str, str]]) -> Run:
    """Trains once, in workers of one thread each, and waits for the end."""
    command = [sys.executable, str(script), *arguments]
    common = {**os.environ, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    processes: list[subprocess.Popen[str]] = []
    try:
        for rank, place in enumerate(places):
            speaks = subprocess.DEVNULL if rank else subprocess.PIPE
            one = subprocess.Popen(command, env={**common, **place}, stdout=speaks, text=True)
            processes.append(one)
        said = processes[0].stdout
        output = said.read() if said is not None else ""
        ends = [reap(process) for process in processes]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                process.wait()
    found = re.search(r"^throughput ([\d.]+) samples/s$", output, re.MULTILINE)
    if any(process.returncode for process in processes) or found is None:
        raise SystemExit(f"{script.name} failed or did not report its throughput:\n{output}")
    return Run(
        samples_per_s=float(found[1]),
        peak_mib=fmean(peak_mib for peak_mib, _ in ends),
        cpu_s=fmean(cpu_s for _, cpu_s in ends),
    )


if __name__ == "__main__":
    main()
