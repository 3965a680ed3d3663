"""What conversion costs at run time, against the same script made parallel by an expert.

    python benchmarks/overhead.py                     wants two idle cores
    python benchmarks/overhead.py --rounds 3 --json
    python benchmarks/overhead.py --batch-size 16     short steps, where a fixed cost shows most

Three versions of one training take turns: sequential, by hand, converted, sequential, and so on.
A busy machine slows down all that run at about the same time, so each round yields ratios of its
own, and the median of those is what counts. Throughput is what the training itself reports. Peak
memory and CPU time are what the system says of each worker process when it ends, the mean over the
workers. CPU time has no goal; it tells whether a surprising throughput is the machine's doing.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, median, quantiles

HERE = Path(__file__).resolve().parent
SEQUENTIAL = HERE / "cnn.py"
BY_HAND = HERE / "cnn_by_hand.py"

THROUGHPUT_GOAL = 0.97
MEMORY_GOAL = 1.05

UNITS_PER_MIB = 2**20 if sys.platform == "darwin" else 2**10
"""The system tells peak memory in KiB, but macOS in bytes."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One training."""

    samples_per_s: float
    peak_mib: float
    """Of one worker process, the mean over all."""
    cpu_s: float
    """Likewise, from start to end. It hardly depends on what else the machine does."""


@dataclass(frozen=True, kw_only=True)
class Round:
    """One turn of all three."""

    sequential: Run
    by_hand: Run
    converted: Run


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The median over the rounds, and the quartiles as a measure of how sure it is."""

    median: float
    low: float
    high: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the overhead of converted scripts.")
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
    with tempfile.TemporaryDirectory() as directory:
        converted = Path(directory) / "cnn_ddp.py"
        convert(SEQUENTIAL, converted)
        rounds = []
        for number in range(args.rounds):
            one = Round(
                sequential=train(SEQUENTIAL, arguments, workers=1),
                by_hand=train(BY_HAND, arguments, workers=args.workers),
                converted=train(converted, arguments, workers=args.workers),
            )
            rounds.append(one)
            speed = one.converted.samples_per_s / one.by_hand.samples_per_s
            print(
                f"round {number + 1} of {args.rounds}: converted / by hand {speed:.3f}",
                file=sys.stderr,
            )

    if args.json:
        settings = {name: value for name, value in vars(args).items() if name != "json"}
        print(json.dumps(as_data(rounds, settings), indent=2))
    else:
        print(as_table(rounds, args.batch_size))


def convert(script: Path, output: Path) -> None:
    """Converts as a user does."""
    command = [sys.executable, "-m", "trainera", "convert", str(script), "-o", str(output)]
    subprocess.run(command, check=True, stdout=sys.stderr)


def train(script: Path, arguments: Sequence[str], workers: int) -> Run:
    """Trains once, in workers of one thread each, and waits for the end.

    The workers get the variables that torchrun gives them, but are started from here: this process
    is small and idle, and as the parent it is told the peak memory of every one of them.
    """
    environment = dict(os.environ, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
    if workers > 1:
        environment |= {
            "WORLD_SIZE": str(workers),
            "LOCAL_WORLD_SIZE": str(workers),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(free_port()),
        }
    command = [sys.executable, str(script), *arguments]
    processes: list[subprocess.Popen[str]] = []
    try:
        for rank in range(workers):
            if workers > 1:
                environment |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
            speaks = subprocess.DEVNULL if rank else subprocess.PIPE
            processes.append(subprocess.Popen(command, env=environment, stdout=speaks, text=True))
        said = processes[0].stdout
        output = said.read() if said is not None else ""
        ends = [reap(process) for process in processes]
    finally:
        for process in processes:
            if process.returncode is None:
                process.kill()
                process.wait()
    if any(process.returncode for process in processes):
        raise SystemExit(f"{script.name} failed; its own words are above")
    found = re.search(r"^throughput ([\d.]+) samples/s$", output, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{script.name} did not report its throughput:\n{output}")
    return Run(
        samples_per_s=float(found[1]),
        peak_mib=fmean(peak_mib for peak_mib, _ in ends),
        cpu_s=fmean(cpu_s for _, cpu_s in ends),
    )


def reap(process: "subprocess.Popen[str]") -> tuple[float, float]:
    """Waits for the end of a process; its peak memory in MiB and its CPU time in seconds."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_maxrss / UNITS_PER_MIB, usage.ru_utime + usage.ru_stime


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ratio(rounds: Sequence[Round], of: Callable[[Round], float]) -> Ratio:
    """A ratio within each round, summed up over the rounds."""
    values = [of(one) for one in rounds]
    if len(values) == 1:
        return Ratio(median=values[0], low=values[0], high=values[0])
    low, middle, high = quantiles(values, n=4, method="inclusive")
    return Ratio(median=middle, low=low, high=high)


def ratios(rounds: Sequence[Round]) -> dict[str, Ratio]:
    """All ratios that are reported, by name."""
    return {
        "throughput": ratio(
            rounds, lambda one: one.converted.samples_per_s / one.by_hand.samples_per_s
        ),
        "memory": ratio(rounds, lambda one: one.converted.peak_mib / one.by_hand.peak_mib),
        "cpu": ratio(rounds, lambda one: one.converted.cpu_s / one.by_hand.cpu_s),
        "speedup_by_hand": ratio(
            rounds, lambda one: one.by_hand.samples_per_s / one.sequential.samples_per_s
        ),
        "speedup_converted": ratio(
            rounds, lambda one: one.converted.samples_per_s / one.sequential.samples_per_s
        ),
    }


def added_us(one: Round, batch_size: int) -> float:
    """How much longer a step of the converted script takes than one of that by hand."""
    converted_s = batch_size / one.converted.samples_per_s
    by_hand_s = batch_size / one.by_hand.samples_per_s
    return (converted_s - by_hand_s) * 1e6


def as_data(rounds: Sequence[Round], settings: dict[str, int]) -> dict[str, object]:
    """All that was measured, for a program to read."""
    found = ratios(rounds)
    steps_us = [added_us(one, settings["batch_size"]) for one in rounds]
    return {
        "settings": settings,
        "ratios": {name: asdict(one) for name, one in found.items()},
        "added_us_per_step": median(steps_us),
        "goals": {"throughput_min": THROUGHPUT_GOAL, "memory_max": MEMORY_GOAL},
        "met": {
            "throughput": found["throughput"].median >= THROUGHPUT_GOAL,
            "memory": found["memory"].median <= MEMORY_GOAL,
        },
        "rounds": [asdict(one) for one in rounds],
    }


def as_table(rounds: Sequence[Round], batch_size: int) -> str:
    """The same for a person."""
    found = ratios(rounds)
    speedups = {"by_hand": found["speedup_by_hand"], "converted": found["speedup_converted"]}
    rows: list[Sequence[str]] = [("", "samples/s", "MiB a worker", "CPU s a worker", "speed-up")]
    for name in ("sequential", "by_hand", "converted"):
        runs: list[Run] = [getattr(one, name) for one in rounds]
        rows.append(
            (
                name.replace("_", " "),
                f"{median(run.samples_per_s for run in runs):.1f}",
                f"{median(run.peak_mib for run in runs):.1f}",
                f"{median(run.cpu_s for run in runs):.1f}",
                f"{speedups[name].median:.2f}" if name in speedups else "",
            )
        )
    compared = [found[name] for name in ("throughput", "memory", "cpu")]
    fast = compared[0].median >= THROUGHPUT_GOAL
    lean = compared[1].median <= MEMORY_GOAL
    rows += [
        ("converted / by hand", *(f"{one.median:.3f}" for one in compared), ""),
        ("  quartiles", *(f"{one.low:.3f}–{one.high:.3f}" for one in compared), ""),
        ("  goal", f"≥ {THROUGHPUT_GOAL}", f"≤ {MEMORY_GOAL}", "", ""),
        ("  met", "yes" if fast else "no", "yes" if lean else "no", "", ""),
    ]
    lines = [f"{row[0]:20}" + "".join(f"{cell:>16}" for cell in row[1:]) for row in rows]
    step_us = median(added_us(one, batch_size) for one in rounds)
    lines.append(f"\nA converted step takes {step_us:+.0f} us (median of {len(rounds)} rounds).")
    return "\n".join(line.rstrip() for line in lines)


if __name__ == "__main__":
    main()
