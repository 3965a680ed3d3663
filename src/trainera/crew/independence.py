"""Whether a network treats the rows that it is given one by one, found out by trying.

A script that makes its batches itself does not say what their rows are. If they are steps in time,
a network that looks from one to another learns something else from a slice. So in the first steps
a copy of each network that is trained is given halves of its rows, without gradients and in
evaluation mode, and must make of them what it made of all. What cannot be tried is let pass: random
numbers, batch statistics that are kept nowhere, results without rows.
"""

import contextlib
import copy
import random
from typing import Any
from weakref import WeakSet

import torch
from torch.nn.modules import module as hooks
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.parallel import DistributedDataParallel

from trainera.crew.rows import arrays_in
from trainera.crew.streams import numpy_random, torch_generators

TOLERANCES = {torch.float64: 1e-6, torch.float32: 1e-3}
ROUGH = 0.05
WATCHED_STEPS = 2
TRIED: WeakSet[Any] = WeakSet()
"""Once is enough, though loops may begin again and again."""


class Watch:
    """Tries every network that is called in the first steps of a loop with the rows of a batch."""

    def __init__(self) -> None:
        self._rows = 0
        self._depth = 0
        self._handles: list[Any] = []

    def step(self, number: int, whole: int, mine: int) -> None:
        """A step of the loop begins (the first is 1), with so many rows, `mine` this worker's."""
        self._rows = mine or min(2, whole)  # without rows it stands in with those of others
        if number > WATCHED_STEPS:
            self.end()
        elif number and not self._handles:
            self._handles = [
                hooks.register_module_forward_pre_hook(self._enter),
                hooks.register_module_forward_hook(self._leave, with_kwargs=True, always_call=True),
            ]

    def end(self) -> None:
        """The loop is over, or was watched long enough."""
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._depth = 0

    def _enter(self, module: Any, args: Any) -> None:
        self._depth += 1

    def _leave(self, module: Any, args: Any, kwargs: Any, result: Any) -> None:
        self._depth -= 1
        if isinstance(module, DistributedDataParallel):
            module = module.module
        if self._depth or module in TRIED or not torch.is_grad_enabled():
            return
        if self._rows < 2 or not learns(module):
            return
        TRIED.add(module)
        self._depth += 1  # what is called from here is no call of the script's
        try:
            with contextlib.redirect_stdout(None):
                together = mixes(double_of(module), args, kwargs, self._rows)
        finally:
            self._depth -= 1
        if together:
            raise RuntimeError(
                f"trainera: what {type(module).__name__} makes of a row depends on the other rows "
                "of the batch, so that no worker can do with a part of them: they may be steps in "
                "time. Put the samples in front, or draw batches of them from a DataLoader"
            )


def double_of(module: Any) -> Any:
    """A copy to be tried, so that what the network counts or draws for itself does not move."""
    try:
        return copy.deepcopy(module)
    except Exception:  # it holds something that cannot be copied
        return module


def learns(module: Any) -> bool:
    """Whether it has something to learn, and keeps the statistics that it uses."""
    if any(isinstance(part, _BatchNorm) and part.running_mean is None for part in module.modules()):
        return False
    return any(parameter.requires_grad for parameter in module.parameters())


@torch.no_grad()
def mixes(module: Any, args: Any, kwargs: Any, rows: int) -> bool:
    """Whether halves of the rows give something else than all of them at once."""
    given = [one for one in arrays_in((args, kwargs)) if isinstance(one, torch.Tensor)]
    if all(one.shape[0] != rows for one in given):
        return False  # they are no rows of the batch
    training = [part for part in module.modules() if part.training]
    numbers = RandomNumbers()
    module.eval()
    try:
        half = rows // 2
        whole = module(*args, **kwargs)
        for part in (slice(0, half), slice(half, rows)):
            made = module(*taken(args, rows, part), **taken(kwargs, rows, part))
            if numbers.moved():
                return False
            if differs(whole, made, rows, part):
                return True
    except Exception:  # the network's own: it cannot be asked this way
        return False
    finally:
        for one in training:
            one.training = True
        numbers.put_back()
    return False


class RandomNumbers:
    """Where all sources of random numbers stand."""

    def __init__(self) -> None:
        self.torch = [generator.get_state() for generator in torch_generators()]
        self.python = random.getstate()
        module = numpy_random()
        self.numpy: Any = module.get_state(legacy=False) if module is not None else None

    def moved(self) -> bool:
        now = RandomNumbers()
        pairs = zip(now.torch, self.torch, strict=True)
        return (
            any(not torch.equal(one, other) for one, other in pairs)
            or now.python != self.python
            or repr(now.numpy) != repr(self.numpy)
        )

    def put_back(self) -> None:
        for generator, state in zip(torch_generators(), self.torch, strict=True):
            generator.set_state(state)
        random.setstate(self.python)
        module = numpy_random()
        if module is not None and self.numpy is not None:
            module.set_state(self.numpy)


def taken(value: Any, rows: int, part: slice) -> Any:
    """The same with a part of the rows of all tensors that have so many."""
    if isinstance(value, torch.Tensor):
        return value[part] if value.dim() and value.shape[0] == rows else value
    if isinstance(value, dict):
        return {key: taken(item, rows, part) for key, item in value.items()}
    if type(value) in (list, tuple):
        return type(value)(taken(item, rows, part) for item in value)
    return value


def differs(whole: Any, made: Any, rows: int, part: slice) -> bool:
    """Whether rows differ by more than rounding, or the result is as large as that of all rows."""
    compared, as_large = False, False
    for one, other in zip(arrays_in(whole), arrays_in(made), strict=True):
        if not isinstance(one, torch.Tensor) or not one.is_floating_point():
            continue
        each = one.shape[0] // rows
        mine = one[part.start * each : part.stop * each]
        if one.shape[0] % rows or not each or mine.shape != other.shape:
            as_large |= one.shape == other.shape
            continue
        compared = True
        allowed = TOLERANCES.get(one.dtype, ROUGH)
        scale = float(mine.abs().max()) if mine.numel() else 0.0
        if not torch.allclose(mine, other, rtol=allowed, atol=allowed * scale, equal_nan=True):
            return True
    return as_large and not compared
