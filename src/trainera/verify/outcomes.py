"""What two runs leave behind: networks after each epoch, checkpoints, output."""

from collections.abc import Sequence
from pathlib import Path

from trainera.verify.compare import NEGLIGIBLE, Comparison, Runs, compare_lengths, compare_steps
from trainera.verify.printed import compare_texts
from trainera.verify.tolerance import Tolerance
from trainera.verify.trace import Saved, Snapshot, Worker
from trainera.verify.verdict import Largest

SINGLE = 100.0
"""How much further than all weights together a single tensor may be apart.

A bias before a batch normalisation is moved by nothing but rounding, which Adam divides by 1e-8.
"""


def compare(
    sequential: Worker, workers: Sequence[Worker], tolerance: Tolerance, texts: tuple[Path, Path]
) -> Comparison:
    """Everything that was observed, in the order in which a training goes wrong."""
    found = Comparison(runs=Runs(sequential, workers), tolerance=tolerance)
    compare_steps(found)
    compare_lengths(found)
    _compare_snapshots(found)
    _compare_saves(found)
    _compare_output(found, texts)
    return found


def _compare_snapshots(found: Comparison) -> None:
    sequential = found.runs.sequential
    for worker in found.runs.workers:
        pairs = list(zip(sequential.epochs, worker.epochs, strict=False))
        if sequential.final and worker.final:
            pairs.append((sequential.final, worker.final))
        for one, other in pairs:
            _compare_snapshot(found, one, other, worker.rank)


_QUANTITIES = {
    "parameter": "weights",
    "buffer": "buffers",
    "optimizer": "optimizer state",
    "metric": "metrics",
}


def _compare_snapshot(found: Comparison, one: Snapshot, other: Snapshot, rank: int) -> None:
    step = max(0, one.step - 1)
    floors = floors_of({name: values[0] for name, values in one.tensors.items()})
    for name, values in one.tensors.items():
        kind, _, label = name.partition(" ")
        quantity = _QUANTITIES[kind]
        others = other.tensors.get(name)
        if others is None:
            found.notes.append(f"worker {rank + 1} has no {kind} {label}")
            continue
        where = f"{label.partition('.')[2]}, worker {rank + 1}"
        slack = 1.0 if kind == "metric" else SINGLE
        _compare_summaries(found, quantity, step, values, others, floors[name], where, slack)


_STATES = frozenset(
    "step exp_avg exp_avg_sq max_exp_avg_sq momentum_buffer square_avg acc_delta sum "
    "running_mean running_var num_batches_tracked".split()
)


def floors_of(norms: dict[str, float]) -> dict[str, float]:
    """How small a tensor counts as nought: by the largest of those that are of its kind.

    A weight that ought to stay 0 is some 1e-17, and twice as much is no difference.
    """
    groups = {}
    for name in norms:
        last = name.rpartition(".")[2]
        kind, blank, _ = name.partition(" ")  # names in a checkpoint have none
        groups[name] = (kind if blank else "", last) if last in _STATES else ("", "")
    most: dict[tuple[str, str], float] = {}
    for name, norm in norms.items():
        most[groups[name]] = max(most.get(groups[name], 0.0), norm)
    return {name: max(NEGLIGIBLE * most[groups[name]], 1e-12) for name in norms}


def _compare_summaries(
    found: Comparison,
    quantity: str,
    step: int,
    ones: Sequence[float],
    others: Sequence[float],
    floor: float,
    where: str,
    slack: float = SINGLE,
) -> None:
    for index, (a, b) in enumerate(zip(ones, others, strict=True)):
        scale = max(ones[0], floor) if index else floor
        found.check(quantity, step, a, b, scale=scale, slack=slack, where=where)


def _compare_saves(found: Comparison) -> None:
    sequential = found.runs.sequential.saves
    savers = [worker for worker in found.runs.workers if worker.saves]
    parallel = savers[0].saves if savers else []
    if len(savers) > 1:
        found.notes.append(f"{len(savers)} workers save, where one would do")
    if len(sequential) != len(parallel):
        found.differ(
            "saved",
            None,
            sequential=f"{len(sequential)} times",
            parallel=f"{len(parallel)} times",
        )
    for one, other in zip(sequential, parallel, strict=False):
        _compare_saved(found, one, other)
    _one_writes(found, savers)


def _one_writes(found: Comparison, savers: Sequence[Worker]) -> None:
    """Workers that write one and the same file spoil it for each other, sooner or later."""
    files = [{one.file: one for one in reversed(worker.saves) if one.file} for worker in savers]
    for name, one in files[0].items() if files else ():
        count = sum(name in written for written in files)
        if count > 1:
            found.differ(
                "saved", max(0, one.step - 1), sequential="written by one process",
                parallel=f"written by {count} workers", where=one.path,
            )  # fmt: skip


def _compare_saved(found: Comparison, one: Saved, other: Saved) -> None:
    step = max(0, one.step - 1)
    missing = [name for name in one.tensors if name not in other.tensors]
    extra = [name for name in other.tensors if name not in one.tensors]
    if missing or extra:
        found.differ(
            "saved",
            step,
            sequential=f"key {missing[0]!r}" if missing else "no such key",
            parallel=f"key {extra[0]!r}" if extra else "no such key",
            where=one.path,
        )
        return
    floors = floors_of({name: values[0] for name, (_, values) in one.tensors.items()})
    for name, (shape, values) in one.tensors.items():
        other_shape, others = other.tensors[name]
        where = f"{one.path}: {name}"
        if shape != other_shape:
            found.differ(
                "saved", step, sequential=f"shape {shape}", parallel=f"shape {other_shape}",
                where=where,
            )  # fmt: skip
            return
        _compare_summaries(found, "saved", step, values, others, floors[name], where)
    for name, number in one.numbers.items():
        if name in other.numbers:
            where = f"{one.path}: {name}"
            found.check("saved", step, number, other.numbers[name], scale=1e-12, where=where)


def _compare_output(found: Comparison, texts: tuple[Path, Path]) -> None:
    runs = found.runs
    tolerance = found.tolerance.at(len(runs.sequential.steps))
    exact = found.tolerance.dtype == "float64"
    speakers = [worker for worker in runs.workers if worker.stdout.strip()]
    if len(speakers) > 1:
        found.notes.append(f"{len(speakers)} workers print, where one would do")
    spoken = runs.workers[0].stdout
    if not spoken.strip() and speakers:
        spoken = speakers[0].stdout
    pairs = [("printed", "", runs.sequential.stdout, spoken)]
    # All log, and the log of one is shown: the first one's, if it is not left to another.
    logged = next((worker.logged for worker in runs.workers if worker.logged), "")
    pairs.append(("logged", "log", runs.sequential.logged, logged))
    for path in sorted(texts[0].glob("*")) if texts[0].is_dir() else ():
        other = texts[1] / path.name
        text = other.read_text(encoding="utf-8") if other.exists() else ""
        pairs.append(("written", path.name, path.read_text(encoding="utf-8"), text))
    for quantity, name, one, another in pairs:
        result = compare_texts(one, another, tolerance, exact=exact)
        if result.ignored:
            where = name or "stdout"
            found.notes.append(
                f"{where}: {result.ignored} "
                + (
                    "number looks like a time, speed or memory and was "
                    if result.ignored == 1
                    else "numbers look like times, speeds or memory and were "
                )
                + "not compared"
            )
        if result.mismatch is not None:
            place = f"{name} line {result.mismatch.line}".strip()
            step = _when(runs, result.mismatch.line) if quantity == "printed" else None
            found.differ(
                quantity, step, sequential=result.mismatch.sequential.strip(),
                parallel=result.mismatch.parallel.strip(), relative=result.mismatch.relative,
                where=place,
            )  # fmt: skip
        elif result.numbers:
            found.largest.setdefault(
                quantity,
                Largest(
                    quantity=quantity, relative=result.largest, step=None, compared=result.numbers
                ),
            )


def _when(runs: Runs, line: int) -> int | None:
    """The step after which the sequential run printed this line, from 1, or would have."""
    before = "".join(runs.sequential.stdout.splitlines(keepends=True)[: line - 1])
    position = len(before.encode())
    done = sum(step.printed <= position for step in runs.sequential.steps)
    return max(0, done - 1) if runs.sequential.steps else None
