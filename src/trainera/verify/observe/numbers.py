"""Random numbers made of the seeds of samples: the same wherever and with whom they are made."""

import math
from typing import Any

import torch

MULTIPLIERS = (-4658895280553007687, -7723592293110705685)
GOLDEN = -7046029254386353131
GROUPED = -1
"""Instead of a dimension: each sample has several rows in a line."""


def generator(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed & (2**62 - 1))


def by_row(rows: torch.Tensor, shape: tuple[int, ...], place: int, salt: int) -> torch.Tensor:
    """Uniform numbers by a mixing function of the row's seed and the place within the row."""
    count = len(rows)
    total = math.prod(shape)
    if count == 0 or total == 0:
        return torch.zeros(shape, dtype=torch.float64)
    salted = mixed(rows + (salt & (2**62 - 1)))
    places = torch.arange(total // count, dtype=torch.int64) * GOLDEN
    drawn = mixed(salted[:, None] + places)
    numbers = ((drawn >> 11) & (2**53 - 1)).to(torch.float64).mul_(2.0**-53)
    if place == GROUPED:
        return numbers.reshape(shape)
    rest = [size for index, size in enumerate(shape) if index != place]
    return numbers.reshape(count, *rest).movedim(0, place)


def mixed(value: torch.Tensor) -> torch.Tensor:
    """Spreads every bit over all, by the finaliser of a common generator."""
    value = (value ^ (value >> 30)) * MULTIPLIERS[0]
    value = (value ^ (value >> 27)) * MULTIPLIERS[1]
    return value ^ (value >> 31)


def normal(uniform: torch.Tensor) -> torch.Tensor:
    with torch._C.DisableTorchFunction():
        drawn: torch.Tensor = torch.special.ndtri(uniform.clamp(1e-15, 1 - 1e-15))
    return drawn


def scaled_normal(drawn: torch.Tensor, mean: float = 0.0, std: float = 1.0, **_: Any) -> Any:
    return normal(drawn) * std + mean


def scaled_uniform(drawn: torch.Tensor, start: float = 0.0, end: float = 1.0, **kw: Any) -> Any:
    low, high = kw.get("from", start), kw.get("to", end)
    return drawn * (high - low) + low


def waited(drawn: torch.Tensor, lambd: float = 1.0, **_: Any) -> Any:
    return -torch.log1p(-drawn) / lambd


def chosen(drawn: torch.Tensor, p: Any = 0.5, **_: Any) -> Any:
    return drawn < p


def finished(drawn: torch.Tensor, options: dict[str, Any]) -> torch.Tensor:
    dtype = options.get("dtype") or torch.get_default_dtype()
    made = drawn.to(dtype).to(options.get("device") or "cpu")
    return made.requires_grad_() if options.get("requires_grad") else made
