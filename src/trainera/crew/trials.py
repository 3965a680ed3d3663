"""Tries each network that is trained, in the first steps of a loop, before anything is learned.

And now and then later, as it may do something else then (`looking`).

Where a script makes its batches itself it does not say what their rows are: if they are steps in
time, a network that looks from one to another learns something else from a slice. And where the
reading of a script could not tell along which dimension a layer works, the converted script asks
for the same (`try_networks`).
"""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.nn.modules import module as hooks
from torch.nn.parallel import DistributedDataParallel

from trainera.crew.comparing import MIXES, TURNED, UNDECIDED
from trainera.crew.independence import double_of, tried
from trainera.crew.picking import rebuilt
from trainera.crew.rows import duplicate
from trainera.crew.state import CREW, REFUSED
from trainera.crew.wire import gather_objects

WATCHED_STEPS = 2
LINGERING_STEPS = 50
ATTEMPTS = 4
SETTLED_STEPS = frozenset({1, 2, 3, 10, 100, 1000})


def try_networks(*, batch_first: bool = False) -> None:
    """Has all networks tried in the first steps, whatever the batches come from.

    With `batch_first` the batch has to be the first dimension of what they give, too.
    """
    TRIALS.asked = True
    TRIALS.batch_first = batch_first
    TRIALS.begun = True


class Spending(Protocol):
    """Where the time that later trials take is counted."""

    spent: float


class Trials:
    """All networks that were tried, and those that still are to be."""

    def __init__(self) -> None:
        self.asked = False
        self.batch_first = False
        self.begun = False
        """Whether there is a loop in which networks are tried: the same on every worker."""
        self.verdicts: WeakKeyDictionary[Any, dict[bool, list[str]]] = WeakKeyDictionary()
        """By whether it was in training mode, as it may do something else there.

        Once is enough, though loops may begin again and again; again if it told nothing.
        """
        self.found: str = ""
        self._idle: WeakSet[Any] = WeakSet()
        """Networks that were seen without gradients, and may be trained a few steps later."""
        self._handles: list[Any] = []
        self._depth = 0
        self._copy: Any = None
        self._lingering = 0
        self._steps = 0
        self._spending: Spending | None = None
        """In a step in which networks are tried that were tried before."""
        self._tried_again: WeakSet[Any] = WeakSet()

    def step(self, number: int) -> None:
        """A step of a loop over batches begins, so many since the loop began (the first is 1)."""
        if not number:
            return
        self._lingering -= self._lingering > 0
        self._spending = None
        if number <= WATCHED_STEPS or self._lingering:
            self._watch()
        else:
            self.rest()

    def again(self, spending: Spending) -> None:
        """In this step all networks are tried once more, where networks are tried at all."""
        if self.asked or self.begun:
            self._watch()
            self._spending = spending
            self._tried_again = WeakSet()

    def _watch(self) -> None:
        if not self._handles:
            self._depth = 0
            self._handles = [
                hooks.register_module_forward_pre_hook(self._enter),
                hooks.register_module_forward_hook(self._leave, with_kwargs=True, always_call=True),
            ]

    def rest(self) -> None:
        """Has been watched long enough."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._copy = None
        self._spending = None

    def end(self) -> None:
        """A loop is over. What was found in it and no optimizer heard of is told now."""
        self.rest()
        if self.found:
            found, self.found = self.found, ""
            raise RuntimeError(found)

    def settle(self, optimizer: Any) -> None:
        """An optimizer is about to step: on all workers the run ends if one has found something."""
        if not self.begun:
            return
        self._steps += 1
        if self._steps in SETTLED_STEPS:
            found = next((one for one in gather_objects(self.found or None) if one), "")
            self.found = ""
            if found:
                if CREW.rank == 0:
                    print(found, file=sys.stderr, flush=True)
                raise SystemExit(REFUSED)
            known = {id(p) for network in list(self.verdicts) for p in network.parameters()}
            learned = [p for group in optimizer.param_groups for p in group["params"]]
            if any(p.grad is not None and id(p) not in known for p in learned):
                self._lingering = LINGERING_STEPS  # it has not been called as a network so far
        elif self.found:
            self.end()

    def _enter(self, module: Any, args: Any) -> None:
        self._depth += 1
        if self._depth > 1:
            return
        self._copy = None
        network = innermost(module)
        if not learns(network) or not self._wanted(network):
            return
        if not torch.is_grad_enabled() and network.training:
            if network not in self._idle:
                self._idle.add(network)
                self._lingering = LINGERING_STEPS
        elif rows_of_open_loops():
            # Both as they are before the call, which may change them.
            with self._counted():
                self._copy = double_of(network), rebuilt(args, duplicate)

    def _wanted(self, network: Any) -> bool:
        """Whether it is not known yet what this network does, or not any more."""
        verdicts = self.verdicts.get(network, {}).get(network.training, [])
        if len(verdicts) < ATTEMPTS and all(one == UNDECIDED for one in verdicts):
            return True
        if self._spending is None or network in self._tried_again:
            return False
        self._tried_again.add(network)
        return True

    @contextlib.contextmanager
    def _counted(self) -> Iterator[None]:
        """The time that this takes is spent on trials, if it is a later one."""
        began = time.monotonic()
        yield
        if self._spending is not None:
            self._spending.spent += time.monotonic() - began

    def _leave(self, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if self._depth or self._copy is None:
            return
        network, (double, args), self._copy = innermost(module), self._copy, None
        verdict = UNDECIDED
        with self._counted():
            for rows in rows_of_open_loops() if double is not None else ():
                verdict = tried(double, args, kwargs, rows, self.batch_first)
                if verdict != UNDECIDED:
                    break
        verdicts = self.verdicts.setdefault(network, {}).setdefault(network.training, [])
        later = len(verdicts) >= ATTEMPTS or any(one != UNDECIDED for one in verdicts)
        if not later:
            verdicts.append(verdict)
        self._tell(network, verdict, later)

    def _tell(self, network: Any, verdict: str, later: bool) -> None:
        """Keeps what is wrong with a network, to be told when all workers can hear it."""
        what, when = type(network).__name__, "nothing has been learned yet"
        if not network.training:
            what, when = f"{what} in evaluation mode", "what it gives would be of slices"
        if later:
            when = "it was not so in the first steps; what was learned since then may be of slices"
        if verdict == TURNED and not self.found:
            self.found = (
                f"trainera: {place_of_call()}: the batch is not the first dimension of what "
                f"{what} gives, and the code does not tell where it is; {when}. Have it return the "
                "batch first (transpose(0, 1))"
            )
        if verdict == MIXES and not self.found:
            self.found = (
                f"trainera: {place_of_call()}: what {what} makes of a row depends on the other "
                "rows of the batch, so that no worker can do with a part of them; "
                f"{when}. If it takes samples for steps in time, put "
                "them where it looks for them (batch_first=True, another dim); if it is to "
                "compare samples, it cannot be shared out"
            )


def innermost(module: Any) -> Any:
    """The network itself, without what averages its gradients or compiles it."""
    while True:
        inside = getattr(module, "_orig_mod", module)  # of torch.compile
        if isinstance(inside, DistributedDataParallel):
            inside = inside.module
        if inside is module:
            return module
        module = inside


def learns(network: Any) -> bool:
    return any(parameter.requires_grad for parameter in network.parameters())


def rows_of_open_loops() -> list[int]:
    """How many rows this worker has of the batches in use, those of the innermost loop first."""
    rows = [step.mine for step in reversed(CREW.open.values()) if step.mine > 1]
    return list(dict.fromkeys(rows))


def place_of_call() -> str:
    """Where the script calls the network that torch is calling hooks for."""
    library = str(Path(torch.__file__).parent)
    frame: Any = sys._getframe(2)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if not frame.f_code.co_filename.startswith(library) and not name.startswith("trainera."):
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return "the script"


TRIALS = Trials()
