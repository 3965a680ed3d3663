"""The command: ``save`` and ``compare``."""

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import trainera
from tests.tools.snapshot import __doc__ as about
from tests.tools.snapshot import cases
from tests.tools.snapshot.comparing import SAME, compare
from tests.tools.snapshot.recording import recorded_cases
from tests.tools.snapshot.saving import save, saved_times

SLOWEST = 10


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.snapshot",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    verbs = parser.add_subparsers(required=True, metavar="save | compare")

    saving = verbs.add_parser("save", help="plan and convert scripts; keep what comes of them")
    saving.add_argument("folder", type=Path, metavar="FOLDER", help="must not hold a snapshot")
    saving.add_argument(
        "paths",
        type=Path,
        nargs="*",
        metavar="SCRIPT-OR-DIRECTORY",
        help="by default all scripts of this repository and those inside of its tests",
    )
    saving.add_argument("--list", type=Path, metavar="FILE", help="scripts, one path a line")
    saving.add_argument("--like", type=Path, metavar="OLD", help="the scripts of a snapshot")
    saving.add_argument(
        "--within",
        type=float,
        metavar="SECONDS",
        help="with --like: only as many of its scripts as took so long, as a sample",
    )
    saving.add_argument("--processes", type=int, default=2)
    saving.set_defaults(verb=_save)

    comparing = verbs.add_parser("compare", help="exit 1 if two snapshots differ")
    comparing.add_argument("old", type=Path, metavar="OLD")
    comparing.add_argument("new", type=Path, metavar="NEW")
    comparing.add_argument(
        "--common", action="store_true", help="only the scripts that both have (for a sample)"
    )
    comparing.add_argument("--lines", type=int, default=30, help="of each difference, at most")
    comparing.set_defaults(verb=_compare)

    chosen = parser.parse_args(arguments)
    verb: int = chosen.verb(parser, chosen)
    return verb


def _save(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    if (chosen.folder / cases.CASES).exists():
        parser.error(f"{chosen.folder}: holds a snapshot already — remove it, or name another")
    if chosen.list:
        chosen.paths += [Path(line) for line in chosen.list.read_text().splitlines()]
    missing = [path for path in chosen.paths if not path.exists()]
    if missing:
        parser.error(f"{missing[0]}: no such file or directory")
    if chosen.like and chosen.paths:
        parser.error("--like takes the scripts of a snapshot — name no others")
    if chosen.within and not chosen.like:
        parser.error("--within needs --like: a snapshot that says how long a script takes")
    start = time.perf_counter()
    chosen.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as recorded:
        if chosen.like:
            found = cases.load(chosen.like)
        elif chosen.paths:
            found = cases.given_cases(chosen.paths)
        else:
            found = cases.default_cases() + recorded_cases(Path(recorded))
        if chosen.within:
            budget_s = chosen.within * chosen.processes
            found = cases.within(found, saved_times(chosen.like), budget_s)
        found = cases.copy(found, chosen.folder.absolute())
    gathered_s = time.perf_counter() - start
    verdicts = save(found, chosen.folder, chosen.processes)
    for engine in next(iter(verdicts.values()), {}):
        counts = Counter(one[engine] for one in verdicts.values())
        told = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
        print(f"{engine}: {told}")
    for name, took_s in list(saved_times(chosen.folder).items())[:SLOWEST]:
        print(f"{took_s:8.2f} s  {name}")
    took_s = time.perf_counter() - start
    print(f"trainera of {Path(trainera.__file__).parent}")
    print(f"{len(found)} scripts in {took_s:.0f} s, {gathered_s:.0f} s of them to gather them")
    return 0


def _compare(_: argparse.ArgumentParser, chosen: argparse.Namespace) -> int:
    differences, counts = compare(chosen.old, chosen.new, common=chosen.common)
    for one in differences:
        print(one.shown(chosen.lines))
    print(f"{counts.pop(SAME, 0)} outcomes are the same")
    for what, number in sorted(counts.items()):
        print(f"{number} × {what}")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
