"""The likely cause of a difference, by what differed first and how.

Each function knows the causes of one quantity. What no cause is known for is said as it is.
"""

from collections.abc import Callable, Sequence
from typing import Any

from trainera.verify.compare import Comparison, listed
from trainera.verify.misdealt import Detail, cause_of_samples
from trainera.verify.misreported import cause_of_metrics, cause_of_printed, cause_of_saved
from trainera.verify.tolerance import close
from trainera.verify.trace import Step
from trainera.verify.verdict import Diagnosis, Difference


def diagnose(found: Comparison, detail: Callable[[], Detail]) -> Diagnosis | None:
    """The cause of the first difference, if it can be told."""
    order = found.in_order
    if not order:
        return None
    first = order[0]
    if first.quantity == "printed" and first.relative is None and "steps" in found.differences:
        first = found.differences["steps"]  # it says so when it stops
    return _CAUSES[first.quantity](found, first, detail)


def _initial(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    _, others = found.runs.at(0)
    if any(not close(step.before[1], others[0].before[1]) for step in others[1:]):
        return Diagnosis(
            name="parameters-not-broadcast",
            text="the workers begin with different weights: each initialised the network with "
            "random numbers of its own, and nobody gave the others the first worker's",
            do="wrap the network (DDP broadcasts it), or broadcast the weights before training",
        )
    return Diagnosis(
        name="initialised-differently",
        text="all workers begin with the same weights, but not with those of the sequential run: "
        "random numbers were drawn in another order, or with another seed, before the network "
        "was built",
        do="set the seed at the same place as the sequential script does",
    )


def _loss(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    step = first.step or 0
    one, others = found.runs.at(step)
    size = found.runs.size
    if any(len(other.losses) != len(one.losses) for other in others):
        return Diagnosis(
            name="accumulation",
            text="another number of batches is accumulated before the step",
            do="step after as many backward passes as the sequential script does",
        )
    loss, whole = sum(one.losses), found.runs.loss(step)
    if loss and close(whole / loss, size):
        return Diagnosis(
            name="loss-summed",
            text=f"the loss is {size} times as large: it is summed over workers, not averaged, or "
            "weighted once too often",
            do="weigh the loss of a slice of k out of n samples by k·N/n",
        )
    if loss and close(whole / loss, 1 / size):
        return Diagnosis(
            name="loss-divided",
            text=f"the loss is divided by the number of workers, {size}, once too often: engines "
            "average already",
            do="do not divide the loss by the number of workers",
        )
    counts = [other.count for other in others]
    if detail().batchnorm and found.differences["loss"].step == 0 and len(set(counts)) == 1:
        return _statistics()
    if len(set(counts)) > 1:
        return Diagnosis(
            name="ragged-weight",
            text=f"the workers' slices have {listed(counts)} samples and count alike: the mean of "
            "their means is not the mean of the batch",
            do="weigh the loss of a slice of k out of n samples by k·N/n",
        )
    if detail().batchnorm:
        return _statistics()
    return Diagnosis(
        name="loss-differs",
        text="the same samples and weights give another loss: the forward pass depends on the "
        "size of the batch, or the loss is computed in another way",
    )


def _statistics() -> Diagnosis:
    return Diagnosis(
        name="batch-statistics",
        text="batch normalisation uses the mean and variance of each worker's slice instead of "
        "the whole batch",
        do="synchronise batch normalisation over the workers",
    )


def _gradient(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    step = first.step or 0
    one, others = found.runs.at(step)
    size = found.runs.size
    norms = [other.gradient for other in others]
    clips = [other.clips for other in others]
    apart_now = any(not close(norm[1], norms[0][1]) for norm in norms[1:])
    if apart_now:
        return Diagnosis(
            name="not-averaged",
            text="every worker steps with the gradient of its own slice: they are never averaged",
            do="wrap the network or the optimizer, and use the wrapped one",
        )
    if any(not _same(clip, clips[0]) for clip in clips[1:]):
        return Diagnosis(
            name="clipped-before-averaging",
            text="gradients are clipped before they are averaged: each worker clips by the norm "
            f"of its own share ({listed(f'{clip[0]:.6g}' for clip in clips if clip)})",
            do="clip when the gradients of all workers have been averaged",
        )
    if len(one.clips) != len(clips[0]):
        return Diagnosis(
            name="clipped-otherwise",
            text=f"gradients are clipped {len(clips[0])} times instead of {len(one.clips)}",
            do="clip as the sequential script does",
        )
    # What was before clipping tells more than what is left after it.
    whole, part = (one.clips[0], clips[0][0]) if one.clips else (one.gradient[0], norms[0][0])
    ratio = part / whole if whole else 0.0
    if close(ratio, size):
        return Diagnosis(
            name="gradients-summed",
            text=f"gradients are {size} times as large: they are summed over workers, not averaged",
            do="divide by the number of workers, or use an averaging reduction",
        )
    if close(ratio * size, 1):
        return Diagnosis(
            name="gradients-divided",
            text=f"gradients are divided by the number of workers, {size}, once too often",
            do="average once",
        )
    if len({other.gradients for other in others} | {one.gradients}) > 1:
        return Diagnosis(
            name="parameters-without-gradient",
            text=f"{one.gradients} parameters have a gradient, in parallel "
            f"{listed(other.gradients for other in others)}",
        )
    return Diagnosis(
        name="gradient-weight",
        text="the loss agrees but the gradient, alike on all workers, does not: gradients left "
        "from another backward pass were not cleared, or the weight of a slice is wrong",
        do="compare where gradients are zeroed, accumulated and averaged",
    )


def _same(ones: Sequence[float], others: Sequence[float]) -> bool:
    return len(ones) == len(others) and all(map(close, ones, others))


def _rate(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    step = first.step or 0
    one, others = found.runs.at(step)
    size = found.runs.size
    ratio = others[0].learning_rates[0] / one.learning_rates[0] if one.learning_rates[0] else 0.0
    if step == 0 and (close(ratio, size) or close(ratio, size**0.5)):
        return Diagnosis(
            name="rate-scaled",
            text=f"the learning rate is {ratio:.4g} times as large, as if the batch had grown with "
            f"the {size} workers; but it has not",
            do="keep the learning rate while the global batch is kept",
        )
    mine = _schedules(found.runs.sequential.steps, step)
    theirs = [_schedules(worker.steps, step) for worker in found.runs.workers]
    if any(len(given) > len(mine) for given in theirs):
        return Diagnosis(
            name="schedule-too-fast",
            text="the learning rate follows its schedule faster: the scheduler is stepped more "
            "often than once where the sequential script steps it",
            do="step the scheduler as often as the sequential script does",
        )
    if any(None not in given and not _same(given, mine) for given in theirs if mine != given):
        return Diagnosis(
            name="schedule-by-share",
            text="the scheduler waits for a number, and it is given another one: that of one "
            "worker's share",
            do="give it the metric of all samples, the same on all workers",
        )
    return Diagnosis(
        name="schedule",
        text="the learning rate follows another schedule"
        + (", not the same on all workers" if _rates_differ(others) else ""),
        do="schedulers must see the same numbers (steps, epochs, losses) on all workers",
    )


def _rates_differ(steps: Sequence[Step]) -> bool:
    return len({step.learning_rates for step in steps}) > 1


def _schedules(steps: Sequence[Step], until: int) -> list[Any]:
    """What the schedulers were given up to a step."""
    return [given for step in steps[: until + 1] for given in step.schedules]


def _weights(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    step = first.step or 0
    _, others = found.runs.at(min(step, found.runs.common_steps - 1))
    if any(not close(other.weights[1], others[0].weights[1]) for other in others[1:]):
        return Diagnosis(
            name="drifted-apart",
            text="the workers' weights are no longer the same: something changes them on one "
            "worker and not on the others",
        )
    return Diagnosis(
        name="optimizer-differs",
        text="gradients and learning rate agree, but not what the step makes of them: momentum, "
        "weight decay or the optimizer itself differ",
        do="compare the optimizer's arguments and state",
    )


def _buffers(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    return Diagnosis(
        name="running-statistics",
        text="weights agree, but not the buffers: running statistics of batch normalisation are "
        "those of a slice",
        do="synchronise batch normalisation over the workers",
    )


def _state(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    return Diagnosis(
        name="optimizer-state",
        text="weights agree, but not what the optimizer remembers",
        do="load the optimizer's state on all workers, or on none",
    )


def _count(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    counts = [len(worker.steps) for worker in found.runs.workers]
    if len(set(counts)) > 1:
        return Diagnosis(
            name="decided-apart",
            text=f"the workers made {listed(counts)} steps: each decides by itself when to stop",
            do="decide by a number that is the same on all workers, such as a reduced metric",
        )
    return Diagnosis(
        name="number-of-steps",
        text=f"{counts[0]} steps instead of {len(found.runs.sequential.steps)}: the script stops "
        "at another time, or goes through another number of batches",
        do="early stopping must see the metric of all samples; batches must stay what they were",
    )


_CAUSES: dict[str, Callable[[Comparison, Difference, Callable[[], Detail]], Diagnosis]] = {
    "initial weights": _initial,
    "samples": cause_of_samples,
    "loss": _loss,
    "gradient": _gradient,
    "learning rate": _rate,
    "weights": _weights,
    "buffers": _buffers,
    "optimizer state": _state,
    "metrics": cause_of_metrics,
    "steps": _count,
    "saved": cause_of_saved,
    "printed": cause_of_printed,
    "logged": cause_of_printed,
    "written": cause_of_printed,
}
