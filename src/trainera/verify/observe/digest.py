"""Tensors told apart without keeping them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

NARROW = frozenset({torch.float16, torch.bfloat16, torch.float32})


def leaves(value: Any) -> Iterator[Any]:
    """Everything in nested tuples, lists and dictionaries, in order."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, tuple | list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def replaced(value: Any, change: Any) -> Any:
    """The same containers with every tensor changed; what has no tensor is left as it is."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, Mapping) and hasattr(value, "items"):
        changed = {key: replaced(item, change) for key, item in value.items()}
        same = all(changed[key] is value[key] for key in changed)
        if same:
            return value
        try:
            return type(value)(changed)  # type: ignore[call-arg]
        except TypeError:
            return changed
    if isinstance(value, tuple | list):
        items = [replaced(item, change) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return type(value)(items)
    return value


def widened(value: Any) -> Any:
    """Floating-point tensors in full precision."""
    return replaced(value, lambda one: one.double() if one.dtype in NARROW else one)


def row_digests(batch: Any) -> list[int]:
    """A number for each sample of a batch, the same wherever its content is the same.

    What has no rows, such as a single number for the batch, is left out.
    """
    tensors = [one for one in leaves(batch) if isinstance(one, torch.Tensor) and one.dim() > 0]
    lists = [one for one in _lists(batch) if one and not isinstance(one[0], torch.Tensor)]
    if tensors:
        count = _most_common(one.shape[0] for one in tensors)
    elif lists:
        count = _most_common(len(one) for one in lists)
    else:
        return []
    columns = [_bytes_of_rows(one) for one in tensors if one.shape[0] == count]
    texts = [one for one in lists if len(one) == count and all(map(_plain, one))]
    digests = []
    for row in range(count):
        digest = hashlib.blake2b(digest_size=8)
        for column in columns:
            digest.update(column[row])
        for text in texts:
            digest.update(repr(text[row]).encode())
        digests.append(int.from_bytes(digest.digest(), "little", signed=True))
    return digests


def _lists(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _lists(item)
    elif isinstance(value, tuple | list):
        if any(isinstance(item, tuple | list | Mapping | torch.Tensor) for item in value):
            for item in value:
                yield from _lists(item)
        else:
            yield value


def _plain(value: Any) -> bool:
    return isinstance(value, str | bytes | int | float | bool)


def _most_common(counts: Iterable[int]) -> int:
    seen = list(counts)
    return max(dict.fromkeys(seen), key=seen.count)


def _bytes_of_rows(tensor: torch.Tensor) -> list[memoryview]:
    plain = tensor.detach().cpu().contiguous()
    rows = plain.shape[0]
    if plain.numel() == 0:
        return [memoryview(b"")] * rows
    flat = plain.reshape(rows, -1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(rows, -1)
    content: Any = flat.contiguous().view(torch.uint8).numpy()
    view = memoryview(content).cast("B")
    size = len(view) // rows
    return [view[row * size : (row + 1) * size] for row in range(rows)]


@torch.no_grad()
def summary(tensors: Iterable[torch.Tensor]) -> list[list[float]]:
    """Norm, sum and sum weighted by place of each tensor: equal tensors agree, others hardly."""
    found = []
    for tensor in tensors:
        plain = tensor.detach()
        if plain.is_sparse:
            plain = plain.to_dense()
        if plain.is_complex():
            plain = torch.view_as_real(plain)
        flat = plain.reshape(-1).double()
        norm, total = flat.norm(), flat.sum()
        ramp = flat @ torch.linspace(0.0, 1.0, max(1, flat.numel()), dtype=torch.float64)[
            : flat.numel()
        ].to(flat.device)
        found.append([norm.item(), total.item(), ramp.item()])
    return found


@torch.no_grad()
def total_norm_and_sum(tensors: list[torch.Tensor]) -> tuple[float, float]:
    """Of all entries together; the sum shows what a norm does not, a change of sign."""
    if not tensors:
        return 0.0, 0.0
    dense = [one.to_dense() if one.is_sparse else one for one in tensors]
    norms = torch.stack([one.norm() for one in dense])
    sums = torch.stack([one.sum() for one in dense])
    return norms.double().norm().item(), sums.double().sum().item()
