"""How long a user waits for trainera itself.

    python benchmarks/startup.py [--runs 7] [--json]

The script that is converted is cnn.py, grown to 300 lines by more networks and more evaluations
like its own. Every command is a new process. The runs of the different commands take turns, so
that a busy moment does not hit one of them alone. Limits are on wall time; CPU time shows whether
the machine was busy. trainera's files are compiled before, as an installation does it.
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
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

SCRIPT = Path(__file__).resolve().parent / "cnn.py"
SOURCES = SCRIPT.parents[1] / "src"
LINES = 300

HELP_LIMIT_S = 0.4
CONVERT_LIMIT_S = 1.5


@dataclass(frozen=True, kw_only=True)
class Timing:
    """One command, medians over its runs."""

    name: str
    wall_s: float
    fastest_s: float
    cpu_s: float
    limit_s: float | None


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure how long trainera takes to start.")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    if args.runs < 1:
        parser.error("needs a run")

    compileall.compile_dir(SOURCES, quiet=1)
    with tempfile.TemporaryDirectory() as directory:
        script = Path(directory) / "train.py"
        script.write_text(grown(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
        trainera = (sys.executable, "-m", "trainera")
        output = str(script.with_name("train_ddp.py"))
        commands: list[tuple[str, Sequence[str], float | None]] = [
            ("python -c pass", (sys.executable, "-c", "pass"), None),
            ("import trainera", (sys.executable, "-c", "import trainera"), None),
            ("trainera --help", (*trainera, "--help"), HELP_LIMIT_S),
            (
                f"trainera convert ({LINES} lines)",
                (*trainera, "convert", str(script), "-o", output),
                CONVERT_LIMIT_S,
            ),
        ]
        timings = measure(commands, args.runs)

    if args.json:
        print(
            json.dumps({"runs": args.runs, "timings": [asdict(one) for one in timings]}, indent=2)
        )
    else:
        print(as_table(timings))


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


def measure(commands: Sequence[tuple[str, Sequence[str], float | None]], runs: int) -> list[Timing]:
    """Runs all commands in turn, that many times, after one turn that fills the caches."""
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name, _, _ in commands}
    for number in range(runs + 1):
        for name, command, _ in commands:
            spent = run(command)
            if number > 0:
                taken[name].append(spent)
    return [
        Timing(
            name=name,
            wall_s=median(wall_s for wall_s, _ in taken[name]),
            fastest_s=min(wall_s for wall_s, _ in taken[name]),
            cpu_s=median(cpu_s for _, cpu_s in taken[name]),
            limit_s=limit_s,
        )
        for name, _, limit_s in commands
    ]


def run(command: Sequence[str]) -> tuple[float, float]:
    """Wall time and CPU time of a command, in seconds."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{said.decode()}")
    return wall_s, usage.ru_utime + usage.ru_stime


def as_table(timings: Sequence[Timing]) -> str:
    """For a person."""
    lines = [f"{'':30}{'median s':>10}{'fastest s':>11}{'CPU s':>8}{'limit s':>9}  met"]
    for one in timings:
        limit, met = "", ""
        if one.limit_s is not None:
            limit, met = f"{one.limit_s:.1f}", "yes" if one.wall_s <= one.limit_s else "no"
        times = f"{one.wall_s:10.3f}{one.fastest_s:11.3f}{one.cpu_s:8.3f}"
        lines.append(f"{one.name:30}{times}{limit:>9}  {met}".rstrip())
    return "\n".join(lines)


if __name__ == "__main__":
    main()
