"""Causes of a difference in what is said and kept of a network that is the same."""

from collections.abc import Callable

from trainera.verify.compare import Comparison
from trainera.verify.misdealt import Detail
from trainera.verify.tolerance import close
from trainera.verify.trace import Worker
from trainera.verify.verdict import Diagnosis, Difference


def cause_of_metrics(
    found: Comparison, first: Difference, detail: Callable[[], Detail]
) -> Diagnosis:
    told = [_told(worker) for worker in found.runs.workers]
    if any(not all(map(close, one, told[0])) for one in told[1:]):
        return Diagnosis(
            name="metric-of-one-share",
            text="the network is the same, but not what the workers say about it: each has the "
            "metrics of its own share, by which callbacks decide",
            do="combine the metrics of all workers before any callback sees them",
        )
    return Diagnosis(
        name="average-of-averages",
        text="all workers have the same metrics, but not those of all samples: means of unequal "
        "shares count alike, or what is averaged is no mean",
        do="add up what metrics are made of (sums and counts), or weigh by the number of samples",
    )


def _told(worker: Worker) -> list[float]:
    return [
        values[0]
        for epoch in worker.epochs
        for name, values in epoch.tensors.items()
        if name.startswith("metric ")
    ]


def cause_of_saved(found: Comparison, first: Difference, detail: Callable[[], Detail]) -> Diagnosis:
    if "'module." in first.parallel:
        return Diagnosis(
            name="module-prefix",
            text="the keys of the checkpoint begin with 'module.': the wrapper was saved, not the "
            "network in it",
            do="save model.module.state_dict()",
        )
    if first.parallel.startswith("written by"):
        return Diagnosis(
            name="saved-by-all",
            text="several workers write one and the same file: who reads it, or is killed, finds "
            "half of it",
            do="save on the first worker only",
        )
    if first.sequential.endswith("times"):
        return Diagnosis(
            name="saved-otherwise",
            text="a checkpoint is saved at other times: which epoch is the best is decided by "
            "another number",
            do="decide by a number that is the same on all workers",
        )
    return Diagnosis(name="saved-content", text="the checkpoint holds other values")


def cause_of_printed(
    found: Comparison, first: Difference, detail: Callable[[], Detail]
) -> Diagnosis:
    runs = found.runs
    size = runs.size
    for index, one in enumerate(runs.sequential.evaluations):
        if any(len(worker.evaluations) <= index for worker in runs.workers):
            break
        passes = [worker.evaluations[index] for worker in runs.workers]
        total = sum(each.count for each in passes)
        whole = all((p.count, p.samples) == (one.count, one.samples) for p in passes)
        if whole or total == one.count:
            continue
        return Diagnosis(
            name="evaluated-twice" if total > one.count else "evaluated-in-part",
            text=f"an evaluation went through {total} samples instead of {one.count}: "
            + ("some count twice" if total > one.count else "some are left out"),
            do="evaluate every sample once; a padding sampler repeats some",
        )
    lines = runs.sequential.stdout.splitlines()
    spoken = runs.workers[0].stdout.splitlines()
    if size > 1 and len(spoken) > len(lines) and set(spoken) == set(lines):
        return Diagnosis(
            name="printed-by-all", text="every worker prints", do="print on the first worker only"
        )
    return Diagnosis(
        name="metric-of-one-share",
        text="the network is the same, but not what is said about it: the number is of one "
        "worker's share, or samples are counted twice or with the wrong weight",
        do="sum counts over all workers, and weigh means by the number of samples",
    )
