"""Picking rows out of what a network is given, and finding the tensors in what it returns."""

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch
from torch.nn.utils.rnn import PackedSequence

from trainera.crew.rows import CONSTANTS, like_mapping

DEEPEST = 6
LEAST = -1e4  # or less: what stands for nothing before a softmax
WIDER = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def row_places(given: Any, rows: int) -> dict[int, tuple[int, ...]]:
    """For each tensor or list given, by its number: along which dimensions it may have the rows.

    The likeliest comes first: the one that is outermost in memory. A batch is made row by row, and
    stays so where a script only turns it around.
    """
    places: dict[int, tuple[int, ...]] = {}

    def look(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            found = [place for place, size in enumerate(value.shape) if size == rows]
            strides = value.stride() if value.layout == torch.strided else (0,) * value.dim()
            places[len(places)] = tuple(sorted(found, key=lambda place: -strides[place]))
        else:
            places[len(places)] = (0,) if len(value) == rows else ()
        return value

    rebuilt(given, look)
    return places


def masks_in(given: Any, rows: int) -> set[int]:
    """The numbers of square tables, of as many rows as the batch, that only say yes or no."""
    masks = set()
    numbers = iter(range(len(row_places(given, rows))))

    def look(value: Any) -> Any:
        number = next(numbers)
        if isinstance(value, torch.Tensor) and value.shape == (rows, rows):
            if bool(((value == 0) | (value == 1) | (value < LEAST)).all()):
                masks.add(number)
        return value

    rebuilt(given, look)
    return masks


def picked(given: Any, places: dict[int, tuple[int, ...]], index: list[int], exact: bool) -> Any:
    """The same with these rows only, in memory of its own; `exact`: in full precision."""
    numbers = iter(range(len(places)))

    def pick(value: Any) -> Any:
        found = places[next(numbers)]
        if not isinstance(value, torch.Tensor):
            return [value[row] for row in index] if found else value
        plain = value.detach()
        if found:
            plain = plain.index_select(found[0], torch.tensor(index, device=value.device))
        else:
            plain = plain.clone()
        return plain.to(WIDER.get(value.dtype, value.dtype)) if exact else plain

    return rebuilt(given, pick)


def rebuilt(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same containers with every tensor, and every list of numbers or words, changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, list) and value and all(isinstance(one, CONSTANTS) for one in value):
        return change(value)
    if isinstance(value, Mapping):
        items = {key: rebuilt(item, change) for key, item in value.items()}
        return items if type(value) is dict else like_mapping(value, items)
    if isinstance(value, list | tuple):
        parts = [rebuilt(item, change) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        same = copy.copy(value)
        for field in dataclasses.fields(value):
            object.__setattr__(same, field.name, rebuilt(getattr(value, field.name), change))
        return same
    return value


def leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    """The tensors in a result, of any number of dimensions, also in objects such as Normal."""
    if isinstance(value, torch.Tensor | PackedSequence):
        yield value
    elif isinstance(value, Mapping):
        for key in value:
            yield from leaves(value[key], depth + 1)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from leaves(item, depth + 1)
    elif hasattr(value, "__dict__") and not callable(value) and depth < DEEPEST:
        for item in vars(value).values():
            yield from leaves(item, depth + 1)
