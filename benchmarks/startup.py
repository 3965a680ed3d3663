"""How long a user waits for trainera itself.

    python benchmarks/startup.py [--runs 7] [--json] [--against CHECKOUT]

The script that is converted is cnn.py, grown to 300 lines by more networks and more evaluations
like its own. Every command is a new process. The runs of the different commands take turns, so
that a busy moment does not hit one of them alone. Limits are on wall time; CPU time shows whether
the machine was busy. trainera's files are compiled before, as an installation does it.

With `--against` the commands of another checkout are run in the same turns, now before and now
after our own, and the CPU time of each turn is compared with that of the same turn over there.
"""

import argparse
import compileall
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median

SCRIPT = Path(__file__).resolve().parent / "cnn.py"
SOURCES = SCRIPT.parents[1] / "src"
LINES = 300

HELP_LIMIT_S = 0.4
CONVERT_LIMIT_S = 1.5


@dataclass(frozen=True, kw_only=True)
class Command:
    """What is run, with the sources of one checkout."""

    name: str
    words: Sequence[str]
    sources: Path = SOURCES
    limit_s: float | None = None


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What one run took."""

    wall_s: float
    cpu_s: float


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One command, medians over its runs."""

    name: str
    wall_s: float
    fastest_s: float
    cpu_s: float
    limit_s: float | None
    cpu_ratio: float | None = None
    """CPU time over that of the other checkout, median over the turns."""
    fastest_cpu_ratio: float | None = None


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long trainera takes to start.")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    parser.add_argument("--against", type=Path, metavar="CHECKOUT", help="compare with this one")
    args = parser.parse_args()
    if args.runs < 1:
        parser.error("needs a run")
    other = args.against / "src" if args.against is not None else None
    if other is not None and not (other / "trainera").is_dir():
        parser.error(f"{args.against} is no checkout of trainera")

    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "train.py"
        script.write_text(grown(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
        timings = measure(commands(script), args.runs, other)

    if args.json:
        print(
            json.dumps({"runs": args.runs, "timings": [asdict(one) for one in timings]}, indent=2)
        )
    else:
        print(as_table(timings))


def commands(script: Path) -> list[Command]:
    """What a user waits for, and what of it is Python's own."""
    trainera = (sys.executable, "-m", "trainera")
    output = str(script.with_name("train_ddp.py"))
    return [
        Command(name="python -c pass", words=(sys.executable, "-c", "pass")),
        Command(name="import trainera", words=(sys.executable, "-c", "import trainera")),
        Command(name="trainera --help", words=(*trainera, "--help"), limit_s=HELP_LIMIT_S),
        Command(
            name=f"trainera convert ({LINES} lines)",
            words=(*trainera, "convert", str(script), "-o", output),
            limit_s=CONVERT_LIMIT_S,
        ),
    ]


def grown(source: str) -> str:
    """The script with LINES lines: its network and evaluation again and again, and all in use."""
    before, main_line, after = source.partition("def main() -> None:\n")
    block = before[before.index("class Net(") :]
    call = next(line + "\n" for line in after.splitlines() if " = evaluate(" in line)
    copies = (LINES - source.count("\n")) // (block + call).count("\n")
    for number in range(1, copies + 1):
        copy = block.replace("class Net(", f"class Net{number}(")
        before += copy.replace("def evaluate(", f"def evaluate{number}(")
        more = call.replace("= evaluate(", f"= evaluate{number}(")
        after = after.replace(call, call + more)
    # What is left over is filled with constants, as many a script has them.
    missing = LINES - (before + main_line + after).count("\n")
    constants = "".join(f"OPTION_{number} = {number}\n" for number in range(missing))
    return before + constants + main_line + after


def measure(commands: Sequence[Command], runs: int, other: Path | None = None) -> list[Timing]:
    """Runs all commands in turn, that many times, after one turn that fills the caches."""
    checkouts = [SOURCES] if other is None else [SOURCES, other]
    for sources in checkouts:
        compileall.compile_dir(sources, quiet=1)
    taken: dict[tuple[str, Path], list[Spent]] = {}
    for number in range(runs + 1):
        for command in commands:
            for sources in checkouts if number % 2 else reversed(checkouts):
                spent = run(replace(command, sources=sources))
                if number > 0:
                    taken.setdefault((command.name, sources), []).append(spent)
    return [
        timing(command, taken[command.name, SOURCES], taken[command.name, other] if other else [])
        for command in commands
    ]


def timing(command: Command, ours: Sequence[Spent], theirs: Sequence[Spent]) -> Timing:
    """What came of the runs of a command, and of those of the other checkout, if there is one."""
    ratios = [mine.cpu_s / other.cpu_s for mine, other in zip(ours, theirs, strict=False)]
    fastest_s = [min((spent.cpu_s for spent in side), default=0.0) for side in (ours, theirs)]
    return Timing(
        name=command.name,
        wall_s=median(spent.wall_s for spent in ours),
        fastest_s=min(spent.wall_s for spent in ours),
        cpu_s=median(spent.cpu_s for spent in ours),
        limit_s=command.limit_s,
        cpu_ratio=median(ratios) if ratios else None,
        fastest_cpu_ratio=fastest_s[0] / fastest_s[1] if ratios else None,
    )


def run(command: Command) -> Spent:
    """Runs a command as a new process."""
    start = time.perf_counter()
    process = subprocess.Popen(
        command.words,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        # Of an installed trainera nobody knows which checkout it is.
        env={**os.environ, "PYTHONPATH": str(command.sources)},
    )
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise SystemExit(f"{' '.join(command.words)} failed:\n{said.decode()}")
    return Spent(wall_s=wall_s, cpu_s=usage.ru_utime + usage.ru_stime)


def as_table(timings: Sequence[Timing]) -> str:
    """For a person."""
    compared = any(one.cpu_ratio is not None for one in timings)
    head = f"{'':30}{'median s':>10}{'fastest s':>11}{'CPU s':>8}{'limit s':>9}  met"
    lines = [f"{head}  CPU / other: median, fastest" if compared else head]
    for one in timings:
        limit, met = "", ""
        if one.limit_s is not None:
            limit, met = f"{one.limit_s:.1f}", "yes" if one.wall_s <= one.limit_s else "no"
        times = f"{one.wall_s:10.3f}{one.fastest_s:11.3f}{one.cpu_s:8.3f}"
        line = f"{one.name:30}{times}{limit:>9}  {met:3}"
        if one.cpu_ratio is not None:
            line += f"{one.cpu_ratio:22.3f}{one.fastest_cpu_ratio:9.3f}"
        lines.append(line.rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    main()
