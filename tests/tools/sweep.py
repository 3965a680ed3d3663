"""Plans every Python file of the standard library and of the installed packages.

None of them is a training script of a user's, so none may crash the planner, take long, or be
claimed to be convertible. ``python -m tests.tools.sweep --all`` looks at all of them. Each is
planned as if it stood alone in a directory: its neighbours are no modules of a user's.
"""

import argparse
import signal
import sys
import sysconfig
import tempfile
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

LIMIT_S = 60.0
GIVEN_UP_S = 40.0
"""A file that takes more time of the processor is interrupted and counts as a crash."""
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
    places = sysconfig.get_paths()
    standard = Path(places["stdlib"])
    found = {path for path in standard.rglob("*.py") if "site-packages" not in path.parts}
    for name in ("purelib", "platlib"):
        found |= set(Path(places[name]).rglob("*.py"))
    return sorted(path for path in found if path.is_file())


def sample(files: Iterable[Path], size: int) -> list[Path]:
    """The same files on every machine that has them: those whose names have the lowest hashes."""
    return sorted(files, key=lambda path: sha256("/".join(path.parts[-3:]).encode()).digest())[
        :size
    ]


def examine(path: Path) -> Outcome:
    """Plans one file alone; whatever happens is an outcome."""
    with tempfile.TemporaryDirectory() as folder:
        alone = Path(folder) / path.name
        alone.write_bytes(path.read_bytes())
        return examine_in_place(alone, path)


def examine_in_place(path: Path, source: Path | None = None) -> Outcome:
    """Plans one file where it stands."""

    def give_up(*_: Any) -> None:
        raise TimeoutError(f"no answer after {GIVEN_UP_S} s")

    usual = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, GIVEN_UP_S)
    start = time.process_time()
    try:
        plan = plan_script(path)
    except UserError as error:
        verdict, message = TOLD, str(error)
    except Exception:
        verdict, message = CRASHED, traceback.format_exc()
    else:
        told = [f"{refusal.place}: {refusal.what}" for refusal in plan.refusals]
        told = told or [f"{edit.place}: {edit.rule}" for edit in plan.edits]
        verdict, message = REFUSED if plan.refusals else PLANNED, "\n".join(told)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, usual)
    took_s = time.process_time() - start
    return Outcome(path=source or path, verdict=verdict, message=message, took_s=took_s)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="every file, not a sample")
    parser.add_argument("--sample", type=int, default=300, metavar="N")
    parser.add_argument("--processes", type=int, default=2)
    arguments = parser.parse_args()
    files = all_files() if arguments.all else sample(all_files(), arguments.sample)
    start = time.perf_counter()
    with ProcessPoolExecutor(arguments.processes) as pool:
        outcomes = []
        for outcome in pool.map(examine, files, chunksize=16):
            outcomes.append(outcome)
            if len(outcomes) % 1000 == 0:
                print(f"{len(outcomes)} of {len(files)}", file=sys.stderr, flush=True)
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
