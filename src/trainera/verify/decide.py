"""From what two runs left behind to a verdict."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainera.verify import tolerance as tolerances
from trainera.verify.compare import Comparison
from trainera.verify.diagnose import diagnose
from trainera.verify.misdealt import Detail
from trainera.verify.outcomes import compare, floors_of
from trainera.verify.run import Request, Side
from trainera.verify.trace import Worker, events, read_worker
from trainera.verify.verdict import Curve, Diagnosis, Difference, Largest, Outcome, Verdict


def before_parallel(request: Request, sequential: Side) -> Verdict | None:
    """The verdict when the sequential run alone gives it: there is nothing to compare with."""
    blank = _blank(request, sequential)
    if not sequential.good:
        return _sequential_failed(blank, sequential)
    if not any(event["k"] == "step" for event in events(sequential.directory / "trace-0.jsonl")):
        return replace(
            blank,
            reason="the sequential script ended without a step of an optimizer: nothing was "
            "trained, so there is nothing to compare",
        )
    return None


def decide(request: Request, sequential: Side, parallel: Side) -> Verdict:
    """The verdict on two runs of which the sequential one came to a good end."""
    blank = replace(_blank(request, sequential), parallel_s=parallel.wall_s)
    alone = read_worker(sequential.directory, 0)
    return _compared(blank, request, sequential, parallel, alone)


def _blank(request: Request, sequential: Side) -> Verdict:
    return Verdict(
        outcome=Outcome.UNDECIDED,
        reason="",
        script=str(request.script),
        engine=request.engine,
        workers=request.workers,
        dtype=request.dtype,
        tolerance=str(tolerances.for_dtype(request.dtype)),
        steps=0,
        epochs=0,
        sequential_s=sequential.wall_s,
    )


def _sequential_failed(blank: Verdict, side: Side) -> Verdict:
    if side.stuck:
        reason = "the sequential script stopped moving; --timeout gives it longer"
        return replace(blank, reason=reason, waiting=waiting(side))
    words = side.words.strip() or _last_words(side)
    hint = ""
    if "EOFError" in words or "reading from stdin" in words:
        hint = " — it asks for input, and nobody can answer for both runs alike"
    elif side.status == 2 and ("usage:" in words or "usage:" in _last_words(side)):
        words = _last_words(side)
        hint = " — arguments of the script go after --"
    elif "dtype" in words or "Float" in words:
        hint = " — in full precision; --dtype float32 leaves its numbers as they are"
    return replace(blank, reason=f"the sequential script fails{hint}:\n{words}")


def _last_words(side: Side) -> str:
    path = side.directory / "stderr-0"
    if not path.exists():
        return ""
    return path.read_text(errors="replace")[-2_000:].strip()


def waiting(side: Side) -> tuple[str, ...]:
    """Where each worker stands: the innermost line that is the script's own, and below it."""
    return tuple(f"worker {rank + 1}: {_place(stack)}" for rank, stack in enumerate(side.stacks))


def _place(stack: str) -> str:
    frames = [line.strip() for line in stack.splitlines() if line.strip().startswith("File ")]
    if not frames:
        return "did not answer"
    own = [line for line in frames if "site-packages" not in line and "/trainera/" not in line
           and "/lib/python" not in line]  # fmt: skip
    inner = frames[0]
    if own and own[0] != inner:
        return f"{own[0]}, in {inner.rpartition(' in ')[2]}"
    return inner


def _compared(
    blank: Verdict, request: Request, sequential: Side, parallel: Side, alone: Worker
) -> Verdict:
    workers = [read_worker(parallel.directory, rank) for rank in range(parallel.workers)]
    blank = replace(
        blank,
        steps=len(alone.steps),
        epochs=len(alone.epochs),
        rows=tuple(worker.rows for worker in workers),
        curve=_curve(alone, workers),
    )
    if parallel.stuck:
        return _stuck(blank, parallel, workers)
    if not parallel.good:
        return _parallel_failed(blank, parallel, workers)
    texts = (sequential.directory / "texts", parallel.directory / "texts")
    found = compare(alone, workers, tolerances.for_dtype(request.dtype), texts)
    _compare_final(found, sequential, parallel)

    def detail() -> Detail:
        return _detail(sequential, parallel, parallel.workers)

    differences = tuple(found.in_order)
    verdict = replace(
        blank,
        differences=differences,
        largest=tuple(found.largest.values()),
        notes=tuple(dict.fromkeys(found.notes)),
    )
    if not differences:
        samples = "samples, " if "samples" in found.largest else ""
        said = {"printed", "logged", "written", "saved"} & found.largest.keys()
        output = " and output" if said else ""
        weights = "weights" if said else "and weights"
        reason = f"the same {samples}losses, gradients, {weights}{output}"
        return replace(verdict, outcome=Outcome.EQUIVALENT, reason=reason)
    first = differences[0]
    doubt = _doubt(found, first, alone, workers)
    if doubt:
        return replace(verdict, outcome=Outcome.UNDECIDED, reason=doubt, first=first, chance=True)
    step = "" if first.step is None else f" at step {first.step}"
    return replace(
        verdict,
        outcome=Outcome.DIFFERENT,
        reason=f"{first.quantity} differ{step}" if _plural(first) else
        f"{first.quantity} differs{step}",
        first=first,
        diagnosis=diagnose(found, detail),
    )  # fmt: skip


def _plural(first: Difference) -> bool:
    return first.quantity.endswith("s") and first.quantity != "loss"


def _doubt(
    found: Comparison, first: Difference, alone: Worker, workers: Sequence[Worker]
) -> str | None:
    """Why a difference may be chance: random numbers that could not be tied to samples."""
    last = len(alone.steps) if first.step is None else first.step
    for worker in (alone, *workers):
        for step, what in worker.chance:
            if step <= last:
                return (
                    f"random numbers could not be made to depend on the sample: {what}, at step "
                    f"{step}; runs can only be compared by their results, with --seeds 5 or more"
                )
    if found.same_places:
        return (
            "samples come from the same places of the dataset, but their content differs: they "
            "are changed by random numbers that could not be tied to the sample; runs can only be "
            "compared by their results, with --seeds 5 or more"
        )
    return None


def _stuck(blank: Verdict, parallel: Side, workers: Sequence[Worker]) -> Verdict:
    steps = [len(worker.steps) for worker in workers]
    return replace(
        blank,
        outcome=Outcome.DIFFERENT,
        reason="the parallel run stopped moving: the workers wait for each other",
        first=Difference(
            quantity="steps",
            step=min(steps),
            sequential=f"{blank.steps} steps",
            parallel=f"stuck after {steps} steps",
        ),
        diagnosis=Diagnosis(
            name="stuck",
            text="a worker waits for a collective operation that another does not take part in",
            do="all workers must make the same number of steps and reach the same collectives",
        ),
        waiting=waiting(parallel),
    )


def _parallel_failed(blank: Verdict, parallel: Side, workers: Sequence[Worker]) -> Verdict:
    words = parallel.words.strip() or _last_words(parallel)
    return replace(
        blank,
        outcome=Outcome.DIFFERENT,
        reason=f"the sequential script works, the parallel one fails:\n{words}",
        first=Difference(
            quantity="steps",
            step=min(len(worker.steps) for worker in workers),
            sequential=f"{blank.steps} steps",
            parallel=f"failed with status {parallel.status}",
        ),
        diagnosis=Diagnosis(name="failed", text="the parallel script fails; see its traceback"),
    )


def _curve(alone: Worker, workers: Sequence[Worker]) -> Curve:
    common = min(len(worker.steps) for worker in workers)
    return Curve(
        sequential=tuple(sum(step.losses) for step in alone.steps),
        parallel=tuple(
            sum(sum(worker.steps[number].losses) for worker in workers) / len(workers)
            for number in range(common)
        ),
    )


def _detail(sequential: Side, parallel: Side, workers: int) -> Detail:
    networks = [
        event for event in events(sequential.directory / "trace-0.jsonl") if event["k"] == "network"
    ]
    return Detail(
        sequential=_digests(sequential.directory, 0),
        parallel=[_digests(parallel.directory, rank) for rank in range(workers)],
        batchnorm=any(event["batchnorm"] for event in networks),
    )


def _digests(directory: Path, rank: int) -> list[list[int]]:
    """The digests of the samples that each step learned from."""
    return [step.digests for step in read_worker(directory, rank, digests=True).steps]


def _compare_final(found: Comparison, sequential: Side, parallel: Side) -> None:
    """All entries of all tensors at the end, one tensor at a time."""
    if found.differences:
        return
    one, other = (_final_values(side.directory) for side in (sequential, parallel))
    if one is None or other is None:
        return
    import numpy

    floors = floors_of({name: float(numpy.linalg.norm(_array(one[name]))) for name in one})
    largest, compared = 0.0, 0
    for name in one:
        if name not in other or other[name].shape != one[name].shape:
            continue
        value = _array(one[name])
        compared += value.size
        if not value.size:
            continue
        scale = max(float(abs(value).max()), floors[name])
        largest = max(largest, float(abs(value - _array(other[name])).max()) / scale)
    step = max(0, len(found.runs.sequential.steps) - 1)
    limit = found.tolerance.at(step) * 10
    if largest > limit:
        found.differ(
            "weights", step, sequential="final values", parallel="other final values",
            relative=largest,
        )  # fmt: skip
    found.largest["final values"] = Largest(
        quantity="final values", relative=largest, step=step, compared=compared
    )


def _final_values(directory: Path) -> Mapping[str, Any] | None:
    """What the networks held at the end, by name; read from the file when asked for."""
    if (path := directory / "final.npz").exists():
        import numpy

        values: Mapping[str, Any] = numpy.load(path)
        return values
    if (path := directory / "final.pt").exists():
        import torch

        tensors: Mapping[str, Any] = torch.load(path, weights_only=True, mmap=True)
        return tensors
    return None


def _array(value: Any) -> Any:
    """A tensor or array as numbers of full precision."""
    return value.double().flatten().numpy() if hasattr(value, "double") else value.astype(float)
