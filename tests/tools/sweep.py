"""Plans every Python file of the standard library and of the installed packages.

None of them is a training script of a user's, so none may crash the planner, take long, or be
claimed to be convertible. ``python -m tests.tools.sweep --all`` looks at all of them.
"""

import argparse
import signal
import sysconfig
import time
import traceback
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from trainera.errors import UserError
from trainera.pipeline import plan_script

LIMIT_S = 5.0
GIVEN_UP_S = 60
"""A file that takes longer than this is interrupted and counts as a crash."""
PLANNED, REFUSED, TOLD, CRASHED = "claimed", "refused", "told", "crashed"


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of one file."""

    path: Path
    verdict: str
    message: str
    took_s: float

    def __str__(self) -> str:
        return f"{self.took_s:6.2f} s  {self.verdict:8} {self.path}\n{self.message}"


def all_files() -> list[Path]:
    """Every Python file of this interpreter's libraries, in a fixed order."""
    roots = {Path(sysconfig.get_paths()[name]) for name in ("stdlib", "purelib", "platlib")}
    found = {path for root in roots for path in root.rglob("*.py") if path.is_file()}
    return sorted(found)


def sample(files: Iterable[Path], size: int) -> list[Path]:
    """The same files on every machine that has them: those whose names have the lowest hashes."""
    return sorted(files, key=lambda path: sha256("/".join(path.parts[-3:]).encode()).digest())[
        :size
    ]


def examine(path: Path) -> Outcome:
    """Plans one file; whatever happens is an outcome."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"no answer after {GIVEN_UP_S} s")

    usual = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(GIVEN_UP_S)
    start = time.process_time()
    try:
        plan = plan_script(path)
    except UserError as error:
        verdict, message = TOLD, str(error)
    except BaseException:
        verdict, message = CRASHED, traceback.format_exc()
    else:
        told = [f"{refusal.place}: {refusal.what}" for refusal in plan.refusals]
        told = told or [f"{edit.place}: {edit.rule}" for edit in plan.edits]
        verdict, message = REFUSED if plan.refusals else PLANNED, "\n".join(told)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)
    return Outcome(path=path, verdict=verdict, message=message, took_s=time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every file, not a sample")
    parser.add_argument("--sample", type=int, default=300, metavar="N")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    files = all_files() if arguments.all else sample(all_files(), arguments.sample)
    start = time.perf_counter()
    with ProcessPoolExecutor(arguments.processes) as pool:
        outcomes = list(pool.map(examine, files, chunksize=16))
    took_s = time.perf_counter() - start
    for outcome in outcomes:
        if outcome.verdict in (CRASHED, PLANNED) or outcome.took_s > LIMIT_S:
            print(outcome)
    counts = Counter(outcome.verdict for outcome in outcomes)
    slow = sum(outcome.took_s > LIMIT_S for outcome in outcomes)
    slowest = max(outcomes, key=lambda outcome: outcome.took_s)
    print(f"{len(files)} files, {took_s:.0f} s with {arguments.processes} processes")
    print(f"{counts[CRASHED]} crashes, {counts[PLANNED]} claimed conversions")
    print(f"{counts[REFUSED]} refused, {counts[TOLD]} told why not")
    print(f"{slow} over {LIMIT_S:.0f} s; slowest {slowest.took_s:.2f} s: {slowest.path}")


if __name__ == "__main__":
    main()
