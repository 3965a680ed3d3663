"""Causes of a difference in the samples that a step learns from."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from trainera.verify.compare import Comparison, listed
from trainera.verify.trace import Worker
from trainera.verify.verdict import Diagnosis, Difference


@dataclass(frozen=True, kw_only=True)
class Detail:
    """What is looked up only when something differs: the samples of every step."""

    sequential: list[list[int]]
    parallel: list[list[list[int]]]
    """By worker and step."""
    batchnorm: bool
    """Some network has batch normalisation."""


def cause_of_samples(
    found: Comparison, first: Difference, detail: Callable[[], Detail]
) -> Diagnosis:
    """Who was given what, told from the step itself, or from the epoch it is part of."""
    step = first.step or 0
    one, others = found.runs.at(step)
    size = found.runs.size
    if size > 1 and all((o.count, o.samples) == (one.count, one.samples) for o in others):
        return Diagnosis(
            name="not-split",
            text=f"every worker was given the whole batch: {size} workers do the same work",
            do="give each worker its own slice of every batch",
        )
    if any(len(other.losses) != len(one.losses) for other in others):
        return Diagnosis(
            name="accumulation",
            text=f"{listed(len(other.losses) for other in others)} batches are accumulated before "
            f"the step instead of {len(one.losses)}",
            do="step after as many backward passes as the sequential script does",
        )
    everything = detail()
    mine = everything.sequential[step]
    theirs = [digest for worker in everything.parallel for digest in worker[step]]
    if set(theirs) - {digest for seen in everything.sequential for digest in seen}:
        return _others()
    total = len(theirs)
    repeated = [digest for digest, times in Counter(theirs).items() if times > 1]
    if total == size * one.count or (total > 1.5 * one.count and step == 0):
        return Diagnosis(
            name="batch-grew",
            text=f"the global batch is {total} instead of {one.count}: every worker takes a batch "
            "of the size that was meant for all of them",
            do="divide the batch size by the number of workers",
        )
    if total == one.count and len(set(theirs)) < len(set(mine)):
        return Diagnosis(
            name="duplicates",
            text=f"{len(repeated)} samples of the step were seen more than once, in place of "
            "others: the workers' parts overlap",
            do="all workers must draw the same order and take different parts of it",
        )
    if total > one.count and set(mine) <= set(theirs):
        return Diagnosis(
            name="padded-duplicates",
            text=f"{total - one.count} samples too many: the sampler gives all workers the same "
            "number by repeating some",
            do="use slices of every batch, weighted by their size, instead of padding",
        )
    return _order(found, step, everything)


def _order(found: Comparison, step: int, detail: Detail) -> Diagnosis:
    """The epoch as a whole tells whether only the order differs."""
    epoch = found.runs.sequential.steps[step].epoch
    mine = _of_epoch(found.runs.sequential, detail.sequential, epoch)
    pairs = list(zip(found.runs.workers, detail.parallel, strict=True))
    theirs = [digest for pair in pairs for digest in _of_epoch(*pair, epoch)]
    for worker, samples in pairs:
        before = _of_epoch(worker, samples, epoch - 1)
        if before and before == _of_epoch(worker, samples, epoch):
            return Diagnosis(
                name="not-reshuffled",
                text="the order of the samples is that of the epoch before: it is not shuffled "
                "anew",
                do="call sampler.set_epoch(epoch) at the start of every epoch",
            )
    if Counter(mine) == Counter(theirs):
        return Diagnosis(
            name="other-order",
            text="over the epoch the same samples were seen, but in other batches: the order was "
            "drawn from other random numbers, or the slices are not of the same batch",
            do="split every batch that the script's own sampler draws",
        )
    extra = Counter(theirs) - Counter(mine)
    lost = Counter(mine) - Counter(theirs)
    if lost and not extra:
        return Diagnosis(
            name="missing-samples",
            text=f"{sum(lost.values())} samples of the epoch were not seen by any worker",
            do="do not drop what does not divide evenly among the workers",
        )
    if extra and all(digest in set(mine) for digest in extra):
        return Diagnosis(
            name="padded-duplicates" if len(theirs) > len(mine) else "duplicates",
            text=f"of the epoch's samples {sum(extra.values())} came more than once, "
            f"{sum(lost.values())} not at all: the workers' parts overlap, or are filled up",
            do="all workers must draw the same order and take different parts of it",
        )
    return _others()


def _others() -> Diagnosis:
    return Diagnosis(
        name="other-samples",
        text="the workers saw samples that the sequential run did not train on: a random split "
        "came out differently, or the data is changed by random numbers of their own",
        do="split training and validation data with the same seed on all workers",
    )


def _of_epoch(worker: Worker, samples: list[list[int]], epoch: int) -> list[int]:
    """The samples that a worker saw in an epoch, in order."""
    return [
        digest
        for step, seen in zip(worker.steps, samples, strict=False)
        if step.epoch == epoch
        for digest in seen
    ]
