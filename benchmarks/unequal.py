"""What `--shares auto` makes of two workers, one of which is slowed down from outside.

    python benchmarks/unequal.py                      wants two idle cores
    python benchmarks/unequal.py --factors 4 --rounds 9 --json

The fast worker alone, the slow one alone, both with equal shares and both with shares that follow
what they can carry take turns, epoch by epoch (see turns.py), each process of one thread. A worker
is slowed by halting it (SIGSTOP) for most of every few milliseconds, so that it knows nothing of
it. The goal is 0.95 of the sum of what both reach alone, and never less than 0.98 of the fast one.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from turns import Training, Version, convert, places_of

CNN = Path(__file__).with_name("cnn.py")
GOAL, FLOOR = 0.95, 0.98
PERIOD_S = 0.024
WARM_UP = 2
"""Epochs before those that count: shares have to be found first."""

SLOW_DOWN = """
import os, signal, sys, time
pid, runs, halts = int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])
parent = os.getppid()
try:
    while os.getppid() == parent:
        os.kill(pid, signal.SIGSTOP)
        time.sleep(halts)
        os.kill(pid, signal.SIGCONT)
        time.sleep(runs)
except ProcessLookupError:
    pass
"""
"""Ends with the benchmark, whatever becomes of that."""


@dataclass(frozen=True)
class Slowed(Training):
    """A training the last process of which may be slowed down."""

    factor: float = 1.0

    def epoch(self) -> float:
        with slow_down(self.processes[-1].pid, self.factor):
            return super().epoch()


@contextmanager
def slow_down(process: int, factor: float) -> Iterator[None]:
    """Has a process run in one part of `factor` of the time."""
    if factor == 1:
        yield
        return
    runs = PERIOD_S / factor
    command = [sys.executable, "-c", SLOW_DOWN, str(process), str(runs), str(PERIOD_S - runs)]
    helper = subprocess.Popen(command)
    try:
        yield
    finally:
        helper.kill()
        helper.wait()


@dataclass(frozen=True, kw_only=True)
class Figures:
    """Samples a second: medians over the rounds."""

    factor: float
    fast: float
    slow: float
    equal: float
    auto: float
    of_sum: float
    """What auto reaches of the sum of both, the median of the ratios of each round."""
    of_fast: float


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure workers of unequal speed.")
    parser.add_argument("--factors", type=float, nargs="+", default=[2, 4, 12])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    if args.rounds < 1 or min(args.factors) < 1:
        parser.error("needs a round, and factors of 1 or more")
    found = []
    with tempfile.TemporaryDirectory() as name:
        parallel = convert(CNN, "ddp", Path(name))
        options = ["--samples", str(args.samples), "--batch-size", str(args.batch_size)]
        for factor in args.factors:
            epochs_s = measure(parallel, factor, args.rounds, options)
            found.append(figures(epochs_s, factor, args.samples))
    if args.json:
        print(json.dumps([vars(one) for one in found], indent=2))
        return
    print(as_text(found))


def measure(
    parallel: Path, factor: float, rounds: int, options: Sequence[str]
) -> Mapping[str, Sequence[float]]:
    """Seconds of the epochs of each of the four."""
    with places_of("ddp", 2) as equal, places_of("ddp", 2) as auto:
        told = [{**place, "TRAINERA_SHARES": "auto"} for place in auto]
        trainings = {
            "fast": Slowed(Version(script=CNN, ends="test ")),
            "slow": Slowed(Version(script=CNN, ends="test "), factor=factor),
            "equal": Slowed(Version(script=parallel, places=equal, ends="test "), factor=factor),
            "auto": Slowed(Version(script=parallel, places=told, ends="test "), factor=factor),
        }
        return take_turns(trainings, rounds, options)


def take_turns(
    trainings: Mapping[str, Slowed], rounds: int, options: Sequence[str]
) -> Mapping[str, Sequence[float]]:
    """Some epochs each to warm up, then one each in every round; every other round backwards."""
    epochs_s: dict[str, list[float]] = {name: [] for name in trainings}
    try:
        for name, one in trainings.items():
            one.start([*options, "--epochs", str(rounds + WARM_UP + 1)])
            for _ in range(WARM_UP if name in ("equal", "auto") else 1):
                one.epoch()
        for number in range(rounds):
            for name in list(trainings)[:: -1 if number % 2 else 1]:
                epochs_s[name].append(trainings[name].epoch())
            seconds = ", ".join(f"{name} {taken[-1]:.2f} s" for name, taken in epochs_s.items())
            print(f"round {number + 1} of {rounds}: {seconds}", file=sys.stderr)
        return epochs_s
    finally:  # nobody has to train to the end
        for one in trainings.values():
            for process in one.processes:
                if process.poll() is None:
                    os.kill(process.pid, signal.SIGCONT)
            one.kill()


def figures(epochs_s: Mapping[str, Sequence[float]], factor: float, samples: int) -> Figures:
    """Throughputs, and what auto reaches of others, round by round."""
    speeds = {name: [samples / taken for taken in every] for name, every in epochs_s.items()}
    rounds = list(zip(*(speeds[name] for name in ("fast", "slow", "auto")), strict=True))
    return Figures(
        factor=factor,
        **{name: median(every) for name, every in speeds.items()},
        of_sum=median(auto / (fast + slow) for fast, slow, auto in rounds),
        of_fast=median(auto / fast for fast, _, auto in rounds),
    )


def as_text(found: Sequence[Figures]) -> str:
    """A table for a person."""
    lines = ["slowed by  fast alone  slow alone  equal shares    auto  of the sum  of the fast one"]
    lines += [
        f"{one.factor:>9g}  {one.fast:>10.0f}  {one.slow:>10.0f}  {one.equal:>12.0f}  "
        f"{one.auto:>6.0f}  {one.of_sum:>10.3f}  {one.of_fast:>15.3f}"
        for one in found
    ]
    reached = all(one.of_sum >= GOAL and one.of_fast >= FLOOR for one in found)
    goal = f"the goal, {GOAL} of the sum and never below {FLOOR} of the fast one, is"
    return "\n".join(
        [*lines, f"samples a second, medians; {goal} {'' if reached else 'not '}reached"]
    )


if __name__ == "__main__":
    main()
