"""Whether what a script prints hangs on rounding alone.

A crew adds up in another order than one process. Where a script makes 1e-3 of the last digit (it
divides by what is nearly nought, inverts what is singular) two right runs differ, and a difference
says nothing. So the sequential script is run some more times, with every output of a network and
every gradient changed in its last digits. What another run shows is explained by that only if each
number is as near to what these runs show as they are to each other, and all words are those of one
of them: a mistake elsewhere in such a script is still a mistake.
"""

from dataclasses import dataclass

import numpy as np

from tests.tools.runs import LEAST, NUMBER, last_place

SHAKES = tuple((seed, digits) for digits in (1, 8) for seed in range(1, 5))
"""Runs with other last digits: where chance begins, and by how much of a digit it moves."""
APART = 3.0
"""How much further than they are from each other another run may be."""


@dataclass(frozen=True)
class Shown:
    """What a run leaves behind, taken apart: the numbers, and all that is none."""

    words: tuple[object, ...]
    numbers: np.ndarray
    allowed: np.ndarray
    """How much each number may differ anyway."""


def of_text(text: str, tolerance: float) -> Shown:
    written = NUMBER.findall(text)
    numbers = np.array([float(one) for one in written], dtype=float)
    least = np.array([max(last_place(one), LEAST) for one in written], dtype=float)
    return Shown((NUMBER.sub("#", text),), numbers, np.maximum(least, tolerance * abs(numbers)))


def of_value(value: object, tolerance: float) -> Shown:
    """Of containers, arrays and tensors."""
    if isinstance(value, dict):
        parts = [of_value(one, tolerance) for one in value.values()]
        return together([Shown(("dict", *map(repr, value)), np.empty(0), np.empty(0)), *parts])
    if isinstance(value, list | tuple):
        kind = Shown((type(value).__name__, len(value)), np.empty(0), np.empty(0))
        return together([kind, *(of_value(one, tolerance) for one in value)])
    if isinstance(value, bool | str | None):
        return Shown((repr(value),), np.empty(0), np.empty(0))
    kind = str(getattr(value, "dtype", type(value).__name__))
    found = value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)
    if found.dtype.kind not in "fiubc":
        return Shown(
            (kind, found.tobytes() if found.dtype != object else repr(value)),
            np.empty(0),
            np.empty(0),
        )
    flat = found.ravel()
    flat = flat.view(flat.real.dtype) if flat.dtype.kind == "c" else flat
    finite = np.isfinite(flat)
    odd = np.where(finite, 0.0, flat.astype(float)).tobytes() if not finite.all() else b""
    numbers = np.where(finite, flat, 0).astype(float)
    if found.dtype.kind in "fc":
        tolerance = max(tolerance, 100 * float(np.finfo(found.dtype).eps))
    scale = max(abs(numbers).max(initial=0.0), 1e-3)
    return Shown((kind, found.shape, odd), numbers, np.full(numbers.shape, tolerance * scale))


def together(parts: list[Shown]) -> Shown:
    return Shown(
        tuple(word for one in parts for word in one.words),
        np.concatenate([np.empty(0), *(one.numbers for one in parts)]),
        np.concatenate([np.empty(0), *(one.allowed for one in parts)]),
    )


def explained(found: Shown, runs: list[Shown]) -> bool:
    """Whether a run shows nothing that these, which differ in last digits, would not."""
    alike = [one for one in runs if one.words == found.words]
    if not alike:
        return False
    shown = np.stack([one.numbers for one in alike])
    nearest = abs(shown - found.numbers).min(axis=0)
    between = shown.max(axis=0) - shown.min(axis=0)
    return bool(np.all(nearest <= np.maximum(found.allowed, APART * between)))


BEFORE = """\
import torch as _torch
from torch.optim.optimizer import register_optimizer_step_pre_hook as _before_step
from torch.utils._pytree import tree_map_only as _map

_source = _torch.Generator().manual_seed({seed})


def _digit(tensor):
    return {size} * (2 * _torch.randint(0, 2, tensor.shape, generator=_source) - 1)


def _output(module, given, output):
    def shake(one):
        return one * (1 + _digit(one)) if one.is_floating_point() else one

    return _map(_torch.Tensor, shake, output)


def _gradients(optimizer, *_):
    owned = [one for group in optimizer.param_groups for one in group["params"]]
    found = [one.grad for one in owned if one.grad is not None]
    size = max((float(one.abs().max()) for one in found if one.numel()), default=0.0)
    for one in found:
        one.add_(size * _digit(one))


_hooks = [_torch.nn.modules.module.register_module_forward_hook(_output), _before_step(_gradients)]
"""
AFTER = """
for _hook in _hooks:
    _hook.remove()
"""


def shaken(source: str, seed: int, digits: float) -> str:
    """The script with other last digits; what it draws at random stays the same."""
    future = [line for line in source.splitlines() if line.startswith("from __future__")]
    body = "\n".join(line for line in source.splitlines() if not line.startswith("from __future__"))
    before = BEFORE.replace("{seed}", str(seed)).replace("{size}", repr(2.3e-16 * digits))
    return "\n".join([*future, before, body, AFTER])
