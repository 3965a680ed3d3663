"""What conversion costs at run time, against the same script made parallel by an expert.

    python benchmarks/overhead.py                     wants two idle cores
    python benchmarks/overhead.py --engine horovod    against Horovod by hand, and against ddp
    python benchmarks/overhead.py --batch-size 16     short steps, where a fixed cost shows most
    .venv/keras3/bin/python benchmarks/overhead.py --engine jax
    .venv/keras2/bin/python benchmarks/overhead.py --engine horovod-keras    Horovod of tf.keras

The versions of one training take turns, epoch by epoch (see turns.py): sequential, by hand,
converted, sequential, and so on. Each round yields ratios of its own, and the median of those is
what counts. Peak memory and CPU time are what the system says of each worker when it ends, the
mean over the workers. CPU time has no goal: a worker of a converted script watches for the others
a moment before it sleeps, which takes time that nobody else wants.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from turns import Turns, Version, convert, places_of, speed, take_turns

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A training, for one process and made parallel by hand."""

    engine: str
    sequential: Path
    by_hand: Path
    ends: str
    """How the last line of an epoch begins."""


SUBJECTS = {
    "ddp": Subject(
        engine="ddp",
        sequential=HERE / "cnn.py",
        by_hand=HERE / "cnn_ddp_by_hand.py",
        ends="test ",
    ),
    "horovod": Subject(
        engine="horovod",
        sequential=HERE / "cnn.py",
        by_hand=HERE / "cnn_horovod_by_hand.py",
        ends="test ",
    ),
    "jax": Subject(
        engine="jax",
        sequential=HERE / "cnn_jax.py",
        by_hand=HERE / "cnn_jax_by_hand.py",
        ends="epoch ",
    ),
    "horovod-keras": Subject(
        engine="horovod",
        sequential=HERE / "cnn_tf.py",
        by_hand=HERE / "cnn_tf_by_hand.py",
        ends="epoch ",
    ),
}

THROUGHPUT_GOAL = 0.97
MEMORY_GOAL = 1.05


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the overhead of converted scripts.")
    parser.add_argument("--engine", choices=SUBJECTS, default="ddp")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--samples", type=int, default=4096)
    parser.add_argument("--json", action="store_true", help="print data on stdout, nothing else")
    args = parser.parse_args()
    if args.rounds < 2 or args.batch_size % args.workers:
        parser.error("needs two rounds, and a batch that the workers can share equally")

    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        subject = SUBJECTS[args.engine]
        parallel = [
            ("by hand", subject.engine, subject.by_hand),
            ("converted", subject.engine, convert(subject.sequential, subject.engine, folder)),
        ]
        if args.engine == "horovod":
            parallel.append(("ddp", "ddp", convert(subject.sequential, "ddp", folder)))
        versions = {"sequential": Version(script=subject.sequential, ends=subject.ends)}
        for name, engine, script in parallel:
            places = stack.enter_context(places_of(engine, args.workers))
            versions[name] = Version(script=script, places=places, ends=subject.ends)
        sizes = ["--batch-size", str(args.batch_size), "--samples", str(args.samples)]
        turns = take_turns(versions, args.rounds, sizes)
    if args.json:
        settings = {name: value for name, value in vars(args).items() if name != "json"}
        print(
            json.dumps(
                {"settings": settings, **summary(turns), "measured": asdict(turns)}, indent=2
            )
        )
    else:
        print(as_table(turns, args.samples))


def summary(turns: Turns) -> dict[str, Any]:
    """What is to be known, for a program to read."""
    throughput = speed(turns, "converted", "by hand")
    converted, by_hand = turns.ends["converted"], turns.ends["by hand"]
    memory = converted.peak_mib / by_hand.peak_mib
    return {
        "throughput": asdict(throughput),
        "memory": memory,
        "cpu": converted.cpu_s / by_hand.cpu_s,
        "speed_ups": {name: asdict(speed(turns, name, "sequential")) for name in turns.epochs_s},
        "goals": {"throughput_min": THROUGHPUT_GOAL, "memory_max": MEMORY_GOAL},
        "met": {
            "throughput": throughput.median >= THROUGHPUT_GOAL,
            "memory": memory <= MEMORY_GOAL,
        },
    }


def as_table(turns: Turns, samples: int) -> str:
    """The same for a person."""
    rows: list[Sequence[str]] = [("", "samples/s", "speed-up", "MiB a worker", "CPU s a worker")]
    for name, epochs_s in turns.epochs_s.items():
        end = turns.ends[name]
        rows.append(
            (
                name,
                f"{samples / median(epochs_s):.1f}",
                f"{speed(turns, name, 'sequential').median:.2f}",
                f"{end.peak_mib:.1f}",
                f"{end.cpu_s:.1f}",
            )
        )
    lines = [f"{row[0]:12}" + "".join(f"{cell:>16}" for cell in row[1:]) for row in rows]
    found = speed(turns, "converted", "by hand")
    data = summary(turns)
    met = {name: "met" if is_met else "not met" for name, is_met in data["met"].items()}
    lines += [
        "",
        f"converted / by hand: {found.median:.3f} of the speed, quartiles "
        f"{found.low:.3f}–{found.high:.3f} (goal ≥ {THROUGHPUT_GOAL}: {met['throughput']}), "
        f"{data['memory']:.3f} of the memory (goal ≤ {MEMORY_GOAL}: {met['memory']})",
    ]
    if "ddp" in turns.epochs_s:
        other = speed(turns, "converted", "ddp")
        lines.append(
            f"converted / converted for ddp: {other.median:.3f} of the speed, quartiles "
            f"{other.low:.3f}–{other.high:.3f}"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
