"""The command: makes scripts from seeds, converts, runs and compares them, and tells the tally."""

import argparse
import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing.util import Finalize
from pathlib import Path

from tests.generated import oracle
from tests.generated.grammar.script import make_script
from tests.generated.oracle import Judge, Outcome, shape
from tests.generated.shrink import shrunk

JUDGE: list[Judge] = []


def start() -> None:
    """A judge for each process, with a zygote of its own."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # the command waits for what has begun
    JUDGE.append(Judge())
    Finalize(None, JUDGE[0].close, exitpriority=1)  # atexit is not asked in such a process


@dataclass(frozen=True)
class Found:
    """What came of a seed."""

    seed: int
    outcome: Outcome
    features: set[str]
    small: str = ""
    """The script as small as it can be, if it fails."""


@dataclass
class Ended:
    """When no more scripts are begun. Whoever ends the command early gets the tally so far."""

    deadline: float

    def by_signal(self, number: int, frame: object) -> None:
        self.deadline = 0.0


def judged(seed: int, crews: tuple[int, ...], shrinks: bool) -> Found:
    source, features = make_script(seed)
    outcome = JUDGE[0].judge(source, crews)
    if not outcome.bad or not shrinks:
        return Found(seed, outcome, features)
    if outcome.workers > 2:  # two are faster, if they will do
        other = JUDGE[0].judge(source, (2,))
        outcome = other if other.verdict == outcome.verdict else outcome
    small = shrunk(source, JUDGE[0].like(outcome))
    return Found(seed, JUDGE[0].judge(small, (outcome.workers,)), features, small)


def main() -> int:
    options = arguments()
    if options.show is not None:
        print(make_script(options.show)[0], end="")
        return 0
    first, _, last = options.seeds.partition(":")
    tally = Tally()
    ended = Ended(time.monotonic() + 60 * options.minutes if options.minutes else math.inf)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ended.by_signal)
    with ProcessPoolExecutor(options.jobs, initializer=start) as pool:
        for found in results(pool, range(int(first), int(last)), options, ended):
            outcome = found.outcome
            tally.add(found)
            if outcome.bad or outcome.verdict in (oracle.UNFIT, oracle.ROUNDING):
                said = f"{outcome.verdict} with {outcome.workers}: {outcome.detail}"
                print(f"seed {found.seed}: {said}", file=sys.stderr, flush=True)
            elif tally.count % 50 == 0:
                print(tally.line(), file=sys.stderr, flush=True)
            if outcome.bad:
                if found.small:
                    print(f"--- seed {found.seed}\n{found.small}", flush=True)
                if options.keep:
                    keep(found, options.keep)
    print(tally.report())
    if options.features:
        print(tally.by_feature())
    return 1 if any(tally.verdicts[one] for one in oracle.BAD) else 0


def keep(found: Found, folder: Path) -> None:
    """Writes the small script, and above it what is wrong with it; the whole one beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    outcome = found.outcome
    name = f"{outcome.verdict.replace(' ', '_')}_{found.seed}"
    lines = [
        f"Seed {found.seed}: {outcome.verdict} with {outcome.workers} workers.",
        outcome.detail,
    ]
    lines += ["Sequential output:", *outcome.expected.splitlines()[-8:]]
    lines += ["Converted output:", *outcome.found.splitlines()[-8:]]
    heading = "\n".join(f"# {line}" for line in lines)
    if found.small:
        (folder / f"{name}.py").write_text(f"{heading}\n{found.small}")
        (folder / "whole").mkdir(exist_ok=True)
        folder = folder / "whole"
    (folder / f"{name}.py").write_text(make_script(found.seed)[0])


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.generated", description=__doc__)
    parser.add_argument("--seeds", default="0:100", help="A:B, from A to B - 1")
    parser.add_argument("--workers", default="2,3", help="2,3 or, for twice as many scripts, one")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where scripts that fail are kept")
    parser.add_argument("--shrink", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--features", action="store_true", help="tell the outcomes by feature")
    parser.add_argument("--avoid", default="", help="features, by commas, of seeds to leave out")
    parser.add_argument("--minutes", type=float, help="begin no script after that")
    parser.add_argument("--show", type=int, metavar="SEED", help="print a script and end")
    return parser.parse_args()


def results(
    pool: ProcessPoolExecutor, seeds: range, options: argparse.Namespace, ended: Ended
) -> Iterator[Found]:
    """As they come; no more than a few scripts are begun ahead."""
    avoided = {one.strip() for one in options.avoid.split(",")}
    left = (seed for seed in seeds if not (make_script(seed)[1] & avoided))
    running: set[Future[Found]] = set()
    while True:
        late = time.monotonic() > ended.deadline
        while (
            not late and len(running) < 2 * options.jobs and (seed := next(left, None)) is not None
        ):
            running.add(pool.submit(judged, seed, crews(options.workers, seed), options.shrink))
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for one in done:
            yield one.result()


def crews(wish: str, seed: int) -> tuple[int, ...]:
    """How many workers a script gets: by turns if it shall be run by one crew only."""
    return (2 + seed % 2,) if wish == "one" else tuple(int(one) for one in wish.split(","))


class Tally:
    """What came of all scripts."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.count = 0
        self.verdicts: Counter[str] = Counter()
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], int] = {}
        self.spent: Counter[str] = Counter()
        self.features: dict[str, Counter[str]] = {}

    def add(self, found: Found) -> None:
        outcome, features, seed = found.outcome, found.features, found.seed
        self.count += 1
        self.verdicts[outcome.verdict] += 1
        if outcome.detail and outcome.verdict != oracle.DIFFERENT:
            reason = (outcome.verdict, shape(outcome.detail))
            self.reasons[reason] += 1
            self.examples.setdefault(reason, seed)
        self.spent.update(outcome.spent)
        for one in features:
            self.features.setdefault(one, Counter())[outcome.verdict] += 1

    def line(self) -> str:
        minutes = (time.monotonic() - self.began) / 60
        counts = ", ".join(f"{count} {name}" for name, count in self.verdicts.most_common())
        return f"{self.count} scripts, {self.count / minutes:.0f} a minute: {counts}"

    def report(self) -> str:
        made = sum(self.verdicts[one] for one in oracle.CONVERTED)
        lines = [self.line(), f"converted: {made / max(1, self.count):.1%}"]
        lines.append("spent: " + ", ".join(f"{k} {v:.0f} s" for k, v in self.spent.most_common()))
        for (verdict, reason), count in self.reasons.most_common():
            lines.append(f"{count:5} {verdict}: {reason} (seed {self.examples[verdict, reason]})")
        return "\n".join(lines)

    def by_feature(self) -> str:
        """Of each thing that the grammar chose, what came of the scripts that have it."""
        lines = []
        for name, counts in sorted(self.features.items()):
            told = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
            lines.append(f"{name:28} {told}")
        return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
