"""Sums over workers that keep the type of what is summed.

The values are sent as they are, and every worker adds them up in the same order. So whole numbers
are exact, and all workers get the very same bits. And it does not matter when one worker still has
the 0 that it began with where the others have a tensor, because it skipped all batches: with an
all-reduce of vectors, which must be of one size, all would hang.
"""

import numbers
import sys
from typing import Any

import torch

from trainera.crew.slice_figures import plain_figures
from trainera.crew.state import CREW
from trainera.crew.wire import gather_objects, tensor_bytes

# A value on its way: ("number", n), ("tensor", device, kind, shape, bytes), ("array", kind, array),
# ("list", items) or ("dict", items). Plain tuples, because they are pickled.
Parcel = tuple[Any, ...]


def sum(*values: Any) -> Any:
    """The sum over all workers of each value; one collective, however many values.

    Numbers, tensors, numpy scalars and arrays, and lists, tuples and dicts of them.
    """
    results = reduce_values(values)
    return results[0] if len(results) == 1 else results


def reduce_values(
    values: tuple[Any, ...], factor: float | None = None, mean: bool = False
) -> tuple[Any, ...]:
    """The sums over all workers of factor * value; a worker with the factor 0 has no say."""
    return reduce_each([(value, factor, mean) for value in values], factor != 0)


def reduce_each(
    figures: list[tuple[Any, float | None, bool]], has_say: bool, rows: int = 1
) -> tuple[Any, ...]:
    """The same of values with a factor each, and whether they are means: in one exchange.

    Means are sent times the rows that they are over and divided by all rows in the end, not weighed
    by fractions: a mean of whole numbers, such as an accuracy, then is what it is in one process.
    """
    values = tuple(value for value, _, _ in figures)
    if CREW.size == 1:
        return tuple(v.detach() if isinstance(v, torch.Tensor) else v for v in values)
    parcel: Parcel = ("list", [packed(*figure) for figure in figures])
    parcels = [each for each in gather_objects(parcel if has_say else None) if each]
    parcel = parcels[0] if parcels else parcel
    for other in parcels[1:]:
        parcel = added(parcel, other)
    if rows != 1:
        parts = zip(parcel[1], figures, strict=True)
        parcel = ("list", [divided(one, rows) if mean else one for one, (_, _, mean) in parts])
    result: tuple[Any, ...] = unpacked(parcel, values)
    return result


def is_numpy(value: Any) -> bool:
    """Whether it is a numpy array or scalar, without importing numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.ndarray | numpy.generic)


def packed(value: Any, factor: float | None, mean: bool) -> Parcel:
    """A value ready to be sent: numbers in full precision, times the factor."""
    if isinstance(value, dict):
        return "dict", {key: packed(item, factor, mean) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return "list", [packed(item, factor, mean) for item in value]
    if isinstance(value, torch.Tensor):
        tensor = value.detach().cpu()
        if mean and not (tensor.is_floating_point() or tensor.is_complex()):
            tensor = tensor.to(torch.get_default_dtype())
        kind = torch.int64 if tensor.dtype == torch.bool else tensor.dtype
        tensor = tensor.to(widest(tensor))
        return tensor_parcel(tensor if factor is None else tensor * factor, value.device.type, kind)
    if is_numpy(value) and value.dtype.kind in "biufc":
        kind = value.dtype.kind
        wide = {"f": "float64", "c": "complex128"}.get(kind, "float64" if mean else "int64")
        # A sum of truth values is a count, and a mean of whole numbers is none.
        keeps = kind in "fc" or not (mean or kind == "b")
        array = value.astype(wide)
        array = array if factor is None else array * factor
        return "array", value.dtype.str if keeps else wide, array
    if isinstance(value, numbers.Number) and not is_numpy(value):
        number: Any = plain_figures(value)
        if mean:
            number = number * 1.0
        return "number", number + 0 if factor is None else number * factor
    raise TypeError(f"cannot sum a {type(value).__name__} over workers: {value!r}")


def widest(tensor: torch.Tensor) -> torch.dtype:
    """The type that sums are made in."""
    if tensor.is_complex():
        return torch.complex128
    return torch.float64 if tensor.is_floating_point() else torch.int64


def tensor_parcel(tensor: torch.Tensor, device: str, kind: torch.dtype) -> Parcel:
    """A parcel of a tensor on the CPU that is `kind` on `device`."""
    content = tensor_bytes(tensor.contiguous().reshape(-1).view(torch.uint8))
    return "tensor", device, str(kind).removeprefix("torch."), tuple(tensor.shape), content


def opened(parcel: Parcel) -> torch.Tensor:
    """The tensor in a parcel, in full precision."""
    _, _, kind, shape, content = parcel
    wide = widest(torch.empty(0, dtype=getattr(torch, kind)))
    if not content:
        return torch.zeros(shape, dtype=wide)
    return torch.frombuffer(bytearray(content), dtype=wide).reshape(shape)


def added(one: Parcel, other: Parcel) -> Parcel:
    """The sum of two parcels; a number may be added to anything but a list."""
    if one[0] == "number" and other[0] in ("tensor", "array"):
        one, other = other, one
    kinds = (one[0], other[0])
    if kinds == ("dict", "dict"):
        items = dict(one[1])
        for key, item in other[1].items():
            items[key] = added(items[key], item) if key in items else item
        return "dict", items
    if kinds == ("list", "list") and len(one[1]) == len(other[1]):
        return "list", [added(a, b) for a, b in zip(one[1], other[1], strict=True)]
    if kinds == ("number", "number"):
        return "number", one[1] + other[1]
    if one[0] == "tensor" and other[0] in ("tensor", "number"):
        operand = opened(other) if other[0] == "tensor" else other[1]
        return tensor_parcel(opened(one) + operand, one[1], getattr(torch, one[2]))
    if one[0] == "array" and other[0] in ("array", "number"):
        return "array", one[1], one[2] + other[-1]
    raise ValueError(f"cannot add {described(other)} of one worker to {described(one)} of another")


def divided(parcel: Parcel, by: int) -> Parcel:
    """A parcel with all of its numbers divided."""
    if parcel[0] == "dict":
        return "dict", {key: divided(item, by) for key, item in parcel[1].items()}
    if parcel[0] == "list":
        return "list", [divided(item, by) for item in parcel[1]]
    if parcel[0] == "tensor":
        return tensor_parcel(opened(parcel) / by, parcel[1], getattr(torch, parcel[2]))
    return (*parcel[:-1], parcel[-1] / by)


def described(parcel: Parcel) -> str:
    """What a parcel holds, for a message."""
    return f"a list of {len(parcel[1])}" if parcel[0] == "list" else f"a {parcel[0]}"


def unpacked(parcel: Parcel, like: Any) -> Any:
    """The value in a parcel, in the containers and on the device of `like`."""
    if parcel[0] == "dict":
        likes = like if isinstance(like, dict) else {}
        same = likes.copy()  # a defaultdict stays one
        same.clear()
        for key, item in parcel[1].items():
            same[key] = unpacked(item, likes.get(key))
        return same
    if parcel[0] == "list":
        each = like if isinstance(like, list | tuple) else [None] * len(parcel[1])
        items = [unpacked(*pair) for pair in zip(parcel[1], each, strict=True)]
        if hasattr(like, "_fields"):
            return type(like)(*items)
        return type(like)(items) if isinstance(like, list | tuple) else items
    if parcel[0] == "tensor":
        device = like.device if isinstance(like, torch.Tensor) else torch.device(parcel[1])
        return opened(parcel).to(device=device, dtype=getattr(torch, parcel[2]))
    if parcel[0] == "array":
        return parcel[2].astype(parcel[1])
    return parcel[1]
