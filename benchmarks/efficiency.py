"""How much of two cores two workers make use of, and how much of them there is to be had.

    python benchmarks/efficiency.py                   wants two idle cores
    python benchmarks/efficiency.py mnist_cnn --rounds 9 --json

Four trainings of a workload take turns, epoch by epoch (see turns.py), all of one thread a
process: one worker, two workers that share the batch, and twice two processes that train apart,
each by itself with half the batch: once not knowing of each other, which tells what the machine
gives when both cores are busy, and once waiting for each other where workers have to, with nothing
to say (see meeting.py), which tells what it leaves to any two that have to agree. An epoch is
training and validation.
"""

import argparse
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from turns import Turns, Version, convert, places_of, speed, take_turns

FOLDER = Path(__file__).resolve().parents[1] / "src" / "trainera" / "workloads"
GOAL = 0.985


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the efficiency of two workers.")
    parser.add_argument("workloads", nargs="*", default=["fish_resnet34", "mnist_cnn"])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    if args.rounds < 2 or args.batch_size % 2:
        parser.error("needs two rounds, and a batch that two workers can share equally")
    found = {name: measure(name, args.rounds, args.batch_size) for name in args.workloads}
    if args.json:
        print(json.dumps({name: asdict(turns) for name, turns in found.items()}, indent=2))
        return
    for name, turns in found.items():
        print(as_text(name, turns))


def measure(workload: str, rounds: int, batch: int) -> Turns:
    """The four of them, of the size `tiny`."""
    print(workload, file=sys.stderr)
    sequential = FOLDER / f"{workload}.py"
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        parallel = convert(sequential, "ddp", folder)
        search = {"PYTHONPATH": str(FOLDER)}
        crews = [stack.enter_context(places_of("ddp", workers)) for workers in (1, 2)]
        one, two = ([{**place, **search} for place in places] for places in crews)
        whole, half = (["--batch-size", str(size)] for size in (batch, batch // 2))
        meeting = {**search, "MEETING": str(folder / "meeting")}
        versions = {
            "one worker": Version(script=parallel, places=one, arguments=whole),
            "two workers": Version(script=parallel, places=two, arguments=whole),
            "two apart": Version(
                script=sequential, places=[search, search], arguments=half, apart=True
            ),
            "two that meet": Version(
                script=Path(__file__).with_name("meeting.py"),
                places=[{**meeting, "RANK": str(rank)} for rank in (0, 1)],
                arguments=[str(sequential), *half],
                apart=True,
            ),
        }
        return take_turns(versions, rounds, ["--size", "tiny"])


def as_text(workload: str, turns: Turns) -> str:
    """For a person. Two that train apart get through two epochs in the time of one."""
    two = speed(turns, "two workers", "one worker")
    apart = speed(turns, "two apart", "one worker")
    meeting = speed(turns, "two that meet", "one worker")
    together = speed(turns, "two workers", "two that meet")
    return (
        f"{workload}: efficiency of two workers {two.median / 2:.3f}, quartiles "
        f"{two.low / 2:.3f}–{two.high / 2:.3f} (goal {GOAL}); of two that train apart "
        f"{apart.median:.3f} ({apart.low:.3f}–{apart.high:.3f}), of two that only wait for each "
        f"other {meeting.median:.3f} ({meeting.low:.3f}–{meeting.high:.3f}); so agreeing costs "
        f"{1 - together.median / 2:.1%} ({1 - together.high / 2:.1%} to {1 - together.low / 2:.1%})"
    )


if __name__ == "__main__":
    main()
