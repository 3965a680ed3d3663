"""From an expression with tensors to cases: which of them are rows of a batch, and along what."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from tests.operations.cases import LARGEST, ROWS, Case, Operand

PLACE = re.compile(r"<(\d+)>")
SMALLEST, GREATEST = 4, 16
"""A dimension of such a size is taken for a batch as it is."""


@dataclass(frozen=True)
class Template:
    """An expression whose tensors are numbered places, and the tensors."""

    family: str
    entry: str
    expression: str
    tensors: tuple[torch.Tensor, ...]
    setup: tuple[str, ...] = ()


def cases_of(template: Template) -> Iterator[Case]:
    """Every way to take its tensors, or some of them, for rows of one batch."""
    tensors = template.tensors
    if not tensors or any(tensor.numel() > LARGEST for tensor in tensors):
        return
    used = {int(number) for number in PLACE.findall(template.expression)}
    for first in sorted(used)[:3]:
        for dim in range(tensors[first].dim()):
            size = tensors[first].shape[dim]
            if size == 0:
                continue
            for companions in _companions(tensors, first, dim):
                chosen = {first: dim, **companions}
                fits = SMALLEST <= size <= GREATEST and size % 6 != 0
                if fits:
                    yield _case(template, tensors, chosen)
                else:
                    resized = tuple(
                        _resized(tensor, chosen[at]) if at in chosen else tensor
                        for at, tensor in enumerate(tensors)
                    )
                    yield _case(template, resized, chosen)
                    if companions:  # a replicated tensor of as many rows as the batch has
                        yield _case(template, resized, {first: dim})


def _companions(
    tensors: tuple[torch.Tensor, ...], first: int, dim: int
) -> Iterator[dict[int, int]]:
    """Which of the other tensors are parts of the same batch: none, or all whose size fits."""
    size, back = tensors[first].shape[dim], dim - tensors[first].dim()
    seen: list[dict[int, int]] = []
    from_left = {
        at: dim
        for at, tensor in enumerate(tensors)
        if at != first and dim < tensor.dim() and tensor.shape[dim] == size
    }
    from_right = {
        at: tensor.dim() + back
        for at, tensor in enumerate(tensors)
        if at != first and -back <= tensor.dim() and tensor.shape[back] == size
    }
    for found in ({}, from_left, from_right):
        if found not in seen:
            seen.append(found)
            yield found


def _resized(tensor: torch.Tensor, dim: int) -> torch.Tensor:
    """The same kind of tensor with more rows along a dimension, no two of them the same."""
    taken = torch.arange(ROWS) % tensor.shape[dim]
    rows = tensor.index_select(dim, taken)
    if not rows.is_floating_point():
        return rows
    shape = [ROWS if at == dim else 1 for at in range(rows.dim())]
    return rows * (1 + 0.01 * torch.arange(ROWS, dtype=rows.dtype)).view(shape)


def _case(template: Template, tensors: tuple[torch.Tensor, ...], chosen: dict[int, int]) -> Case:
    used = sorted({int(number) for number in PLACE.findall(template.expression)})
    names: dict[int, str] = {}
    for at in used:
        letter = "w" if at not in chosen else "h" if at == next(iter(chosen)) else "k"
        count = sum(name[0] == letter for name in names.values())
        names[at] = letter if not count else f"{letter}{count + 1}"
    expression = PLACE.sub(lambda match: names[int(match[1])], template.expression)
    operands = {names[at]: Operand(_plain(tensors[at]), chosen.get(at)) for at in used}
    case = Case(template.family, template.entry, expression, operands, template.setup)
    known = case.digest % 3 > 0
    return Case(template.family, template.entry, expression, operands, template.setup, known)


def _plain(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of its own memory, in the precision in which the scripts compute."""
    double = torch.float64 if tensor.is_floating_point() else tensor.dtype
    return tensor.detach().resolve_conj().resolve_neg().to(double).contiguous().clone()
