"""Two runs side by side, step by step: what differs, and which difference came first."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from trainera.verify.tolerance import Tolerance, apart
from trainera.verify.trace import Step, Worker
from trainera.verify.verdict import Difference, Largest

ORDER = (
    "initial weights",
    "samples",
    "loss",
    "gradient",
    "learning rate",
    "weights",
    "buffers",
    "optimizer state",
    "metrics",
    "steps",
    "saved",
    "printed",
    "logged",
    "written",
)
"""Causes before effects: at one step, the first of these is the one to look at."""

NEGLIGIBLE = 1e-4
"""Of the largest value so far: what is smaller than this part of it counts as nought."""


@dataclass
class Runs:
    """Both traces, and what the sum of all workers is."""

    sequential: Worker
    workers: Sequence[Worker]

    @property
    def size(self) -> int:
        return len(self.workers)

    def loss(self, step: int) -> float:
        """Of the whole batch: what engines average, averaged."""
        return sum(sum(worker.steps[step].losses) for worker in self.workers) / self.size

    def at(self, step: int) -> tuple[Step, list[Step]]:
        """The step of the sequential run and of each worker."""
        return self.sequential.steps[step], [worker.steps[step] for worker in self.workers]

    @property
    def common_steps(self) -> int:
        return min(len(self.sequential.steps), *(len(worker.steps) for worker in self.workers))


@dataclass
class Comparison:
    """The differences, the first of each quantity, and how close everything else was."""

    runs: Runs
    tolerance: Tolerance
    differences: dict[str, Difference] = field(default_factory=dict)
    largest: dict[str, Largest] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    same_places: bool = False
    """Samples differ in content, but they come from the same places of the dataset."""

    @property
    def in_order(self) -> list[Difference]:
        """By step and then by cause; what belongs to no step comes last."""
        return sorted(
            self.differences.values(),
            key=lambda one: (
                math.inf if one.step is None else one.step,
                ORDER.index(one.quantity),
            ),
        )

    def differ(self, quantity: str, step: int | None, **content: Any) -> None:
        """Notes a difference unless an earlier one of the same quantity is known."""
        if quantity not in self.differences:
            self.differences[quantity] = Difference(quantity=quantity, step=step, **content)

    def check(
        self,
        quantity: str,
        step: int | None,
        one: float,
        other: float,
        *,
        scale: float = 0.0,
        slack: float = 1.0,
        where: str = "",
    ) -> None:
        """Compares two numbers, and notes what comes out; `slack` times the tolerance will do."""
        distance = apart(one, other, scale)
        at = step if step is not None else len(self.runs.sequential.steps)
        limit = slack * self.tolerance.at(at)
        if distance > limit:
            self.differ(
                quantity, step, sequential=shown(one), parallel=shown(other),
                relative=distance, where=where,
            )  # fmt: skip
            return
        if quantity in self.differences:
            return
        before = self.largest.get(quantity)
        worst = before is None or distance > before.relative
        self.largest[quantity] = Largest(
            quantity=quantity,
            relative=distance if before is None or worst else before.relative,
            step=step if before is None or worst else before.step,
            compared=1 if before is None else before.compared + 1,
        )


def shown(number: float) -> str:
    """With as many digits as tell two numbers apart."""
    return f"{number:.12g}"


def compare_steps(found: Comparison) -> None:
    runs = found.runs
    largest_loss = largest_gradient = 0.0
    for number in range(runs.common_steps):
        one = runs.sequential.steps[number]
        all_steps = [worker.steps[number] for worker in runs.workers]
        quantity = "initial weights" if number == 0 else "weights"
        _same_weights(found, quantity, number, one.before, [step.before for step in all_steps])
        _same_samples(found, number, one, all_steps)
        loss, whole = sum(one.losses), runs.loss(number)
        largest_loss = max(largest_loss, abs(loss))
        found.check("loss", number, loss, whole, scale=NEGLIGIBLE * largest_loss)
        _same_number_of_backwards(found, number, one, all_steps)
        largest_gradient = max(largest_gradient, one.gradient[0])
        scale = NEGLIGIBLE * largest_gradient
        for worker, step in enumerate(all_steps):
            where = f"worker {worker + 1}" if runs.size > 1 else ""
            found.check(
                "gradient", number, one.gradient[0], step.gradient[0], scale=scale, where=where
            )
            # A sum may be nearly nought by chance, so it is measured by the norm.
            found.check(
                "gradient", number, one.gradient[1], step.gradient[1],
                scale=max(scale, one.gradient[0]), where=f"{where}, sum".strip(", "),
            )  # fmt: skip
        _same_rates(found, number, one, all_steps)
        _same_weights(found, "weights", number, one.weights, [s.weights for s in all_steps])


def _same_number_of_backwards(
    found: Comparison, number: int, one: Step, all_steps: Sequence[Step]
) -> None:
    counts = [len(step.losses) for step in all_steps]
    if any(count != len(one.losses) for count in counts):
        found.differ(
            "loss",
            number,
            sequential=f"{len(one.losses)} backward passes before the step",
            parallel=f"{listed(counts)} backward passes",
        )


def _same_weights(
    found: Comparison,
    quantity: str,
    number: int,
    one: tuple[float, float],
    others: Sequence[tuple[float, float]],
) -> None:
    for worker, other in enumerate(others):
        where = f"worker {worker + 1}" if len(others) > 1 else ""
        found.check(quantity, number, one[0], other[0], where=where)
        found.check(
            quantity, number, one[1], other[1], scale=one[0], where=f"{where}, sum".strip(", ")
        )


def _same_samples(found: Comparison, number: int, one: Step, all_steps: Sequence[Step]) -> None:
    count = sum(step.count for step in all_steps)
    if one.count == count == 0:
        return  # from no loader: what a script makes of its batches shows in the loss
    together = sum(step.samples for step in all_steps) & (2**64 - 1)
    if (one.count, one.samples) == (count, together):
        before = found.largest.get("samples")
        compared = one.count + (before.compared if before else 0)
        found.largest["samples"] = Largest(
            quantity="samples", relative=0.0, step=None, compared=compared
        )
        return
    places = [step.indices for step in all_steps]
    if one.count == count and one.indices is not None and None not in places:
        if sum(place for place in places if place is not None) & (2**64 - 1) == one.indices:
            found.same_places = True
            return
    what = "other samples" if count == one.count else "samples"
    found.differ(
        "samples",
        number,
        sequential=f"{one.count} samples",
        parallel=f"{count} {what} ({listed([step.count for step in all_steps])} by worker)",
    )


def _same_rates(found: Comparison, number: int, one: Step, all_steps: Sequence[Step]) -> None:
    for step in all_steps:
        if len(one.learning_rates) != len(step.learning_rates):
            found.differ(
                "learning rate",
                number,
                sequential=f"{len(one.learning_rates)} parameter groups",
                parallel=f"{len(step.learning_rates)} parameter groups",
            )
            return
        for a, b in zip(one.learning_rates, step.learning_rates, strict=True):
            found.check("learning rate", number, a, b)


def compare_lengths(found: Comparison) -> None:
    runs = found.runs
    counts = [len(worker.steps) for worker in runs.workers]
    if any(count != len(runs.sequential.steps) for count in counts):
        found.differ(
            "steps",
            min(len(runs.sequential.steps), *counts),
            sequential=f"{len(runs.sequential.steps)} steps",
            parallel=f"{listed(counts)} steps by worker",
        )


def listed(values: Iterable[object]) -> str:
    """``3, 3 and 2``."""
    words = [str(value) for value in values]
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
