"""Cutting a worker's rows out of a collated batch, and putting rows together again."""

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from numbers import Integral
from typing import Any

import torch

from trainera.crew.reduction import is_numpy

CONSTANTS = (type(None), bool, int, float, complex, str, bytes)


def is_array(value: Any) -> bool:
    """Whether it has rows, as a tensor or an ndarray of at least one dimension."""
    return (isinstance(value, torch.Tensor) or is_numpy(value)) and len(value.shape) > 0


def row_count(batch: Any) -> int | None:
    """The length of the first tensor or array in a batch, or of a flat list of rows."""
    for leaf in arrays_in(batch):
        return int(leaf.shape[0])
    if isinstance(batch, list | tuple):
        return len(batch)
    return None


def check_made_of_rows(batch: Any) -> None:
    """Raises unless a batch that the script has made is tables of rows, or numbers of samples.

    A number beside the tables may count their rows, of which a worker has but some.
    """
    if not isinstance(batch, list | tuple | Mapping):
        return
    if next(arrays_in(batch), None) is None:
        if isinstance(batch, list) and all(isinstance(one, Integral) for one in batch):
            return
        raise ValueError(
            "cannot share a batch among workers: there is no tensor or array in it, so what its "
            "rows are is not known"
        )
    for part in batch.values() if isinstance(batch, Mapping) else batch:
        bare = isinstance(part, int | float | complex) and not isinstance(part, bool)
        if bare or (isinstance(part, torch.Tensor) and not part.dim()):
            raise ValueError(
                f"cannot share a batch among workers: the number {part} is a part of it, and may "
                "be about all of its rows; compute it where it is used"
            )


def arrays_in(batch: Any) -> Iterator[Any]:
    """The tensors and arrays of a batch, in order."""
    if is_array(batch):
        yield batch
    elif isinstance(batch, Mapping):
        for key in batch:
            yield from arrays_in(batch[key])
    elif isinstance(batch, list | tuple):
        for item in batch:
            yield from arrays_in(item)
    elif dataclasses.is_dataclass(batch):
        for field in dataclasses.fields(batch):
            yield from arrays_in(getattr(batch, field.name))


class Cutter:
    """Cuts rows out of the batches of one loader.

    A list of as many items as there are rows may be a list of rows, or of fields that happen to
    be as many. Most batches leave no doubt, so what a list was is remembered by its place.
    """

    def __init__(self) -> None:
        self.kinds: dict[str, str] = {}

    def cut(self, batch: Any, count: int, start: int, stop: int) -> Any:
        """The rows start to stop of a batch of `count` rows."""
        return self._cut(batch, count, slice(start, stop), "batch")

    def _cut(self, value: Any, count: int, rows: slice, place: str) -> Any:
        if is_array(value):
            if value.shape[0] != count:
                raise ValueError(
                    f"cannot share a batch of {count} samples among workers: {place} has the shape "
                    f"{tuple(value.shape)}, so its first dimension is not the batch"
                )
            return value[rows]
        if isinstance(value, (*CONSTANTS, torch.Tensor)) or is_numpy(value):
            return value
        if isinstance(value, Mapping):
            items = {k: self._cut(v, count, rows, f"{place}[{k!r}]") for k, v in value.items()}
            return items if type(value) is dict else like_mapping(value, items)
        if isinstance(value, list | tuple):
            return self._cut_sequence(value, count, rows, place)
        if dataclasses.is_dataclass(value):
            same = copy.copy(value)
            for field in dataclasses.fields(value):
                part = self._cut(getattr(value, field.name), count, rows, f"{place}.{field.name}")
                object.__setattr__(same, field.name, part)
            return same
        raise ValueError(
            f"cannot share a batch among workers: {place} is a {type(value).__name__}, "
            "and which of its contents belong to which sample is not known"
        )

    def _cut_sequence(self, value: Any, count: int, rows: slice, place: str) -> Any:
        kind = self.kinds.get(place)
        if kind is None:
            kind = sequence_kind(value, count)
            if kind == "unclear":
                raise ValueError(
                    f"cannot share a batch of {count} samples among workers: {place} has {count} "
                    "items, which may be its samples or its fields; use another batch size"
                )
            if kind != "empty":
                self.kinds[place] = kind
        if kind == "rows":
            if len(value) != count:
                raise ValueError(
                    f"cannot share a batch of {count} samples among workers: "
                    f"{place} has {len(value)} items"
                )
            return value[rows]
        if kind in ("whole", "empty"):
            return value
        items = [
            self._cut(item, count, rows, f"{place}[{index}]") for index, item in enumerate(value)
        ]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


def sequence_kind(value: Any, count: int) -> str:
    """What a list or tuple in a batch is: rows, fields, or something that is no batch at all."""
    if hasattr(value, "_fields"):
        return "fields"
    if len(value) == 0:
        return "empty"
    if len(value) != count:
        plain = all(isinstance(item, CONSTANTS) for item in value)
        return "whole" if plain else "fields"
    if all(isinstance(item, str | bytes) for item in value):
        return "rows"
    batched = [looks_batched(item, count) for item in value]
    if all(batched):
        return "unclear"
    return "fields" if any(batched) else "rows"


def list_kind(value: list[Any], mine: int) -> str:
    """What a list is of which this worker has `mine` samples: rows, fields, or either."""
    batched = all(looks_batched(item, mine) for item in value)
    if not batched or not any(map(is_array, value)):
        return "rows"
    return "fields" if len(value) % mine else "unclear"


def looks_batched(value: Any, count: int) -> bool:
    """Whether it may be a field with one entry for each of `count` samples."""
    if is_array(value):
        return bool(value.shape[0] == count)
    if isinstance(value, Mapping):
        return len(value) > 0 and all(looks_batched(item, count) for item in value.values())
    if isinstance(value, list | tuple):
        return len(value) == count or (
            len(value) > 0 and all(looks_batched(item, count) for item in value)
        )
    return False


def like_mapping(value: Any, items: dict[Any, Any]) -> Any:
    """A mapping of the same class, as far as a copy of it can be filled."""
    same = copy.copy(value)
    for key, item in items.items():
        same[key] = item
    return same


def duplicate(batch: Any) -> Any:
    """A copy that shares neither containers nor memory with the batch, as far as it is known."""
    if isinstance(batch, torch.Tensor):
        return batch.detach().clone()
    if is_numpy(batch):
        return batch.copy()
    if isinstance(batch, Mapping):
        items = {key: duplicate(item) for key, item in batch.items()}
        return items if type(batch) is dict else like_mapping(batch, items)
    if isinstance(batch, list | tuple):
        items_of = [duplicate(item) for item in batch]
        return type(batch)(*items_of) if hasattr(batch, "_fields") else type(batch)(items_of)
    return copy.copy(batch)


def is_column(value: Any) -> bool:
    """Whether a tuple has a text for each sample, as torch collates them, and no fields."""
    return (
        isinstance(value, tuple)
        and not hasattr(value, "_fields")
        and len(value) > 0
        and all(isinstance(item, str | bytes) for item in value)
    )


def checked_rows(value: Any, mine: int, active: bool) -> None:
    """Raises ValueError unless all leaves are whole multiples of this worker's rows."""
    if is_column(value):
        value = list(value)
    if isinstance(value, tuple):
        for item in value:
            checked_rows(item, mine, active)
    elif isinstance(value, Mapping):
        for item in value.values():
            checked_rows(item, mine, active)
    elif is_array(value) or isinstance(value, list):
        if active and len(value) % mine:
            raise ValueError(
                f"cannot gather {len(value)} rows: this worker has {mine} samples of the batch, "
                "and what is gathered needs as many rows, or a whole multiple"
            )
    else:
        raise ValueError(
            f"cannot gather a {type(value).__name__} without rows: give a tensor, an array or a "
            "list with an entry for each sample"
        )


def portable(value: Any) -> Any:
    """The same rows, on the CPU and without a graph, to be sent to other workers."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().clone()
    if isinstance(value, tuple):
        items = [portable(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, Mapping):
        return {key: portable(item) for key, item in value.items()}
    return value


def concatenated(like: Any, pieces: list[Any]) -> Any:
    """The rows of all pieces, in the type of `like`."""
    if isinstance(like, torch.Tensor):
        return torch.cat(pieces).to(like.device)
    if is_column(like):
        return type(like)(row for piece in pieces for row in piece)
    if isinstance(like, tuple):
        columns = [
            concatenated(item, [piece[index] for piece in pieces])
            for index, item in enumerate(like)
        ]
        return type(like)(*columns) if hasattr(like, "_fields") else type(like)(columns)
    if isinstance(like, Mapping):
        return {key: concatenated(like[key], [piece[key] for piece in pieces]) for key in like}
    if isinstance(like, list):
        return [row for piece in pieces for row in piece]
    import numpy

    return numpy.concatenate(pieces)
