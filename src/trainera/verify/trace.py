"""The traces of a run, read back: what each worker saw, step by step."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_MASK = 2**64 - 1


@dataclass(kw_only=True)
class Step:
    """One step of an optimizer, and what led to it."""

    optimizer: int = 0
    samples: int = 0
    """The sum of the digests of the samples since the last step: it does not depend on order."""
    count: int = 0
    digests: list[int] = field(default_factory=list)
    """Those digests one by one, if they were asked for."""
    indices: int | None = 0
    """The same of the places in the dataset, where they are known."""
    losses: list[float] = field(default_factory=list)
    """What each backward pass began with."""
    clips: list[float] = field(default_factory=list)
    """Norms before clipping."""
    gradient: tuple[float, float] = (0.0, 0.0)
    """Norm and sum."""
    gradients: int = 0
    """How many parameters had one."""
    each_gradient: list[list[float]] | None = None
    learning_rates: tuple[float, ...] = ()
    before: tuple[float, float] = (0.0, 0.0)
    """The weights before the step: norm and sum."""
    weights: tuple[float, float] = (0.0, 0.0)
    epoch: int = 0
    printed: int = 0
    """How many bytes had been printed by then."""
    schedules: list[float | None] = field(default_factory=list)
    """The steps of schedulers since the last step, with the number that each was given."""


@dataclass(frozen=True, kw_only=True)
class Saved:
    """One call of torch.save, or of a network's own saving."""

    path: str
    file: str
    """The whole path, where it is known."""
    step: int
    tensors: dict[str, tuple[list[int], list[float]]]
    numbers: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What networks and optimizers held at a moment."""

    step: int
    tensors: dict[str, list[float]]


@dataclass(frozen=True, kw_only=True)
class Pass:
    """A whole pass over a loader from which nothing was learned: an evaluation."""

    step: int
    samples: int
    count: int


@dataclass(kw_only=True)
class Worker:
    """The trace of one worker."""

    rank: int
    steps: list[Step] = field(default_factory=list)
    saves: list[Saved] = field(default_factory=list)
    epochs: list[Snapshot] = field(default_factory=list)
    evaluations: list[Pass] = field(default_factory=list)
    final: Snapshot | None = None
    chance: list[tuple[int, str]] = field(default_factory=list)
    """Random draws that could not be made to depend on the sample, by step."""
    mistaken: int = 0
    """Random draws of which the sequential run took another dimension for the batch."""
    stdout: str = ""
    logged: str = ""
    rows: int = 0
    """Samples that it learned from."""


def read_worker(directory: Path, rank: int, *, digests: bool = False) -> Worker:
    """Everything that one worker left; `digests` also keeps those of single samples."""
    worker = Worker(rank=rank)
    reader = _Reader(worker, digests=digests)
    for event in events(directory / f"trace-{rank}.jsonl"):
        reader.take(event)
    worker.stdout, worker.logged = (
        path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
        for path in (directory / f"stdout-{rank}", directory / f"logged-{rank}")
    )
    return worker


def events(path: Path) -> Iterator[dict[str, Any]]:
    """The events of a trace; the last may be cut off when the process was killed."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                yield json.loads(line)


class _Batch:
    def __init__(self, event: dict[str, Any]) -> None:
        digests = event.get("d", ())
        self.digests = digests
        self.count = len(digests)
        self.samples = sum(digests) & _MASK
        self.of_all = bool(event.get("all"))
        """Every worker was given it: the first one's counts."""
        places = event.get("i")
        self.indices = sum(map(hash_of_index, places)) & _MASK if places is not None else None


def hash_of_index(index: int) -> int:
    """Spread out, so that sums of different indices hardly ever agree."""
    return hash((index, 7919))


class _Reader:
    """Sorts batches into those that were learned from and those of evaluations."""

    def __init__(self, worker: Worker, *, digests: bool) -> None:
        self._worker = worker
        self._digests = digests
        self._waiting: dict[int, _Batch] = {}
        self._passed: dict[int, tuple[int, int]] = {}
        """By loader: digests and number of samples of the present pass that taught nothing."""
        self._learned: set[int] = set()
        self._step = Step()
        self._epoch = 0

    def take(self, event: dict[str, Any]) -> None:
        match event["k"]:
            case "batch" | "idle":
                self._set_aside(event["l"])
                self._waiting[event["l"]] = _Batch(event)
            case "end":
                self._end_pass(event["l"])
            case "back":
                self._learn(event["v"])
            case "rate":
                self._step.schedules.append(event["m"])
            case "clip":
                self._step.clips.append(event["v"])
            case "step":
                self._finish(event)
            case "save":
                self._worker.saves.append(_saved(event))
            case "epoch":
                self._epoch += 1
                self._worker.epochs.append(_snapshot(event))
            case "final":
                self._worker.final = _snapshot(event)
            case "mistaken":
                self._worker.mistaken += 1
            case "chance":
                self._worker.chance.append((len(self._worker.steps), event["what"]))

    def _set_aside(self, loader: int) -> None:
        batch = self._waiting.pop(loader, None)
        if batch is not None:
            samples, count = self._passed.get(loader, (0, 0))
            self._passed[loader] = ((samples + batch.samples) & _MASK, count + batch.count)

    def _end_pass(self, loader: int) -> None:
        self._set_aside(loader)
        samples, count = self._passed.pop(loader, (0, 0))
        if loader in self._learned:
            self._learned.discard(loader)
        elif count:
            step = len(self._worker.steps)
            self._worker.evaluations.append(Pass(step=step, samples=samples, count=count))

    def _learn(self, loss: float) -> None:
        step = self._step
        step.losses.append(loss)
        for loader, batch in self._waiting.items():
            self._learned.add(loader)
            if batch.of_all and self._worker.rank:
                continue
            step.samples = (step.samples + batch.samples) & _MASK
            step.count += batch.count
            if self._digests:
                step.digests += batch.digests
            if batch.indices is None or step.indices is None:
                step.indices = None
            else:
                step.indices = (step.indices + batch.indices) & _MASK
        self._waiting.clear()

    def _finish(self, event: dict[str, Any]) -> None:
        step = self._step
        step.optimizer = event["o"]
        step.gradient = _pair(event["g"])
        step.gradients = event["n"]
        step.each_gradient = event.get("grads")
        step.learning_rates = tuple(event["lr"])
        step.before = _pair(event["before"])
        step.weights = _pair(event["w"])
        step.epoch = self._epoch
        step.printed = event["out"]
        self._worker.steps.append(step)
        self._worker.rows += step.count
        self._step = Step()


def _pair(values: list[float]) -> tuple[float, float]:
    return values[0], values[1]


def _saved(event: dict[str, Any]) -> Saved:
    tensors = zip(event["names"], event["shapes"], event["tensors"], strict=True)
    return Saved(
        path=event["path"],
        file=event.get("file", ""),
        step=event["step"],
        tensors={name: (shape, values) for name, shape, values in tensors},
        numbers=event["numbers"],
    )


def _snapshot(event: dict[str, Any]) -> Snapshot:
    return Snapshot(
        step=event["step"], tensors=dict(zip(event["names"], event["tensors"], strict=True))
    )
