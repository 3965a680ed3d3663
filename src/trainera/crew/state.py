"""What this process knows about its crew: who it is, and which passes over loaders are open."""

import os
from typing import NamedTuple

REFUSED = 3
"""The status of a run that is refused (see `trainera --help`)."""


class StepValues:
    """What the slice of one step weighs; a loop reads it from its split loader after each step.

    Of a batch of n samples this worker, one of N, has k. An engine that averages over workers
    gets exactly the sequential gradient when a mean-reduced loss is multiplied by k * N / n.
    """

    _watches_lists = False
    """Whether lists of its batches must not be joined or repeated."""

    def __init__(self) -> None:
        self._share: float = 1.0
        self.too_few: int = 0
        self.fraction: float = 1.0
        self.parts: int = 1
        self.active: bool = True
        self.begun: int = 0
        self._step: tuple[int, int] = (1, 1)
        self._start: int = 0
        self._some_idle: bool = False

    @property
    def own_fraction(self) -> float:
        """The slice's part of the batch; 1 without a sample, so that no gradient of rows is 0.

        They are stand-ins then, and what comes of them counts nothing. Divided by, 0 would be nan.
        """
        return self.fraction or 1.0

    @property
    def share(self) -> float:
        """The weight of a mean-reduced loss; asked for in training only."""
        if self.too_few:
            # The user's doing, not a fault of the script: a message says more than a traceback.
            raise SystemExit(
                f"trainera: {CREW.size} workers share batches of {self.too_few} samples, so some "
                f"have nothing to do: use at most {self.too_few} workers, or a larger batch"
            )
        return self._share

    def _set_step(self, whole: int, mine: int) -> None:
        if (whole, mine) == self._step:
            return
        size = CREW.size
        self._step = (whole, mine)
        self.active = mine > 0
        self.fraction = mine / whole if whole else 0.0
        self._share = mine * size / whole if whole else 0.0
        self.parts = size if mine else 0

    def _pass_ended(self) -> None:
        """A pass over what these are the values of is over."""


class Step(NamedTuple):
    """A batch that is worked on, and this worker's part of it."""

    values: StepValues
    whole: int
    mine: int
    start: int
    """The place of this worker's first sample in the batch."""
    here: int
    """How many rows the script is given: stand-ins, if this worker has no sample."""
    unequal: bool
    """Whether workers are given different numbers of rows, which tells rows from other things."""
    some_idle: bool
    """Whether there is a worker without any sample."""


class Crew:
    """The state of this process. One object instead of globals, so that it can be bundled."""

    def __init__(self) -> None:
        self.joined = False
        self.rank = 0
        self.size = 1
        self.local_rank = 0
        self.local_size = 1
        # The passes that were stepped and have not ended, the one stepped last at the end.
        # Keyed by the pass's id, because a reference would keep an abandoned pass alive.
        self.open: dict[int, Step] = {}
        self.last: StepValues | None = None
        self.steps = 0
        # Whether a network is being given the same on every worker, and no slices of a batch.
        self.alike = False
        # What this worker is doing while the others wait for it; empty if nothing.
        self.apart = ""
        # Whether it is the only one to do that (`once`), and not the first of several (`in_turn`).
        self.alone = False
        # Whether a network is being tried, which is no part of the run.
        self.trying = False
        # Whether random numbers are those of the sequential run; else each worker draws its own.
        self.exact = True
        # A running hash of the samples of all steps so far. It is the same on every worker
        # unless a sampler draws from a random source that the crew does not share.
        self.order = 0

    def read_environment(self) -> None:
        """Takes over what torchrun (or any launcher that speaks its language) says."""
        if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
            self.rank = int(os.environ["RANK"])
            self.size = int(os.environ["WORLD_SIZE"])
            self.local_rank = int(os.environ.get("LOCAL_RANK", self.rank))
            self.local_size = int(os.environ.get("LOCAL_WORLD_SIZE", self.size))
        elif int(os.environ.get("HOROVOD_SIZE", "1")) > 1:
            # Each worker would train for itself, and all of them over the same files.
            raise SystemExit(
                "trainera: this script was converted for torch.distributed, and horovodrun "
                "started it: use torchrun, or convert it with --engine horovod"
            )

    def stepped(self, key: int, step: Step) -> None:
        """Notes a step; the pass that made it becomes the current one."""
        self.open.pop(key, None)
        self.open[key] = step
        self.last = step.values
        self.steps += 1
        self._set(step)

    def ended(self, key: int) -> None:
        """Notes the end of a pass; an outer pass over the same loader gets its values back."""
        entry = self.open.pop(key, None)
        if entry is None:
            return
        for step in reversed(self.open.values()):
            if step.values is entry.values:
                self._set(step)
                break

    @staticmethod
    def _set(step: Step) -> None:
        step.values._start, step.values._some_idle = step.start, step.some_idle
        step.values._set_step(step.whole, step.mine)

    def require_all(self, what: str) -> None:
        """Raises if the others wait elsewhere, for this worker: they would wait for ever."""
        if self.apart:
            raise RuntimeError(
                f"trainera: {what} needs all workers, and the others wait until this one is done "
                f"with {self.apart}: do that before, or after, and only hand the result over"
            )

    def innermost(self) -> StepValues | None:
        """The loader whose pass is open and was stepped last, if there is one."""
        if not self.open:
            return None
        return next(reversed(self.open.values())).values


CREW = Crew()


def rank() -> int:
    """The number of this worker, from 0; the first worker is the one that prints and saves."""
    return CREW.rank


def size() -> int:
    """How many workers there are."""
    return CREW.size
