"""Templates from torch's own database of operators."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F

from tests.operations.variants import Template
from tests.operations.wording import NoWords, Words, call, opposite, parameter_names

OPERATORS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "true_divide": "/",
    "div": "/",
    "floor_divide": "//",
    "remainder": "%",
    "pow": "**",
    "matmul": "@",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
}
REFLECTED = {
    "__radd__": "+",
    "__rsub__": "-",
    "__rmul__": "*",
    "__rdiv__": "/",
    "__rmod__": "%",
    "__rpow__": "**",
    "__rmatmul__": "@",
    "__rand__": "&",
    "__ror__": "|",
    "__rxor__": "^",
}
UNTOLD = {
    "as_strided": "says nothing of rows, only of memory",
    "as_strided_copy": "says nothing of rows, only of memory",
    "as_strided_scatter": "says nothing of rows, only of memory",
    "as_strided.partial_views": "says nothing of rows, only of memory",
    "empty": "uninitialised memory",
    "empty_like": "uninitialised memory",
    "empty_permuted": "uninitialised memory",
    "empty_strided": "uninitialised memory",
    "new_empty": "uninitialised memory",
    "new_empty_strided": "uninitialised memory",
    "resize_": "uninitialised memory",
    "resize_as_": "uninitialised memory",
    "to_sparse": "sparse",
    "sparse.mm": "sparse",
    "sparse.sampled_addmm": "sparse",
    "cuda": "needs a GPU",
}
"""Entries that are left out, and why; random ones are found by trying them twice."""
MOST, MOST_OF_INTEGERS = 80, 8
"""So many samples of one entry are looked at, from the first to the last."""
KINDS = ((torch.float64, MOST), (torch.float32, MOST), (torch.int64, MOST_OF_INTEGERS))


def entries() -> list[Any]:
    from torch.testing._internal.common_methods_invocations import op_db

    return [op for op in op_db if op.name not in UNTOLD and "jiterator" not in op.name]


def title(op: Any) -> str:
    return f"{op.name}.{op.variant_test_name}" if op.variant_test_name else str(op.name)


def templates_of(op: Any, seed: int) -> Iterator[Template]:
    """Each sample of an operator in all its wordings."""
    for dtype, most in KINDS:
        if dtype not in op.dtypes or (dtype == torch.float32 and torch.float64 in op.dtypes):
            continue
        torch.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)
        try:
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
        except Exception:
            continue
        for sample in samples[:: max(1, -(-len(samples) // most))]:
            for wording in _wordings(op, sample):
                try:
                    words = Words()
                    expression = wording(words)
                except (NoWords, RecursionError):
                    continue
                yield Template("functions", title(op), expression, tuple(words.tensors))


def _wordings(op: Any, sample: Any) -> Iterator[Any]:
    """Functions that word a sample: as a call, a method, an operator; by position, by keyword."""
    first, args, kwargs = sample.input, tuple(sample.args), dict(sample.kwargs)
    kwargs.pop("device", None)
    name = op.name
    if name == "__getitem__":
        yield lambda words: f"{words.of(first)}[{words.index(args[0])}]"
        return
    if name in REFLECTED:
        yield lambda words: _reflected(words, REFLECTED[name], first, args[0])
        return
    if name == "einsum":
        yield lambda words: call("torch.einsum", [words.of(args[0]), *map(words.of, first)], {})
        return
    if name == "where":
        yield lambda words: call("torch.where", [*map(words.of, (args[0], first, args[1]))], {})
    function, spoken = _resolve(name)
    if name in OPERATORS and len(args) == 1 and not kwargs:
        yield lambda words: f"{words.of(first)} {OPERATORS[name]} {words.of(args[0])}"
    if function is not None:
        yield lambda words: _called(words, spoken, (first, *args), kwargs)
    method = getattr(torch.Tensor, name, None) if isinstance(first, torch.Tensor) else None
    if method is not None and not callable(method):
        yield lambda words: f"{words.of(first)}.{name}"
        return
    if method is not None:
        yield lambda words: _called(words, f"{words.of(first)}.{name}", args, kwargs)
        if callable(getattr(torch.Tensor, f"{name}_", None)):
            yield lambda words: _called(words, f"{words.of(first)}.clone().{name}_", args, kwargs)
    dims = first.dim() if isinstance(first, torch.Tensor) else _dims(first)
    yield from _renamed(name, function, spoken, method, first, args, kwargs)
    yield from _turned(name, function, spoken, method, first, args, kwargs, dims)


def _called(words: Words, spoken: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    return call(spoken, [*map(words.of, args)], {k: words.of(v) for k, v in kwargs.items()})


def _reflected(words: Words, sign: str, first: Any, other: Any) -> str:
    right = words.of(first)
    return f"{words.of(other)} {sign} {right}"


def _resolve(name: str) -> tuple[Any, str]:
    """A function by its name in the database, and how a script calls it."""
    place: Any = torch
    spoken = f"torch.{name}"
    parts = name.split(".")
    if name.startswith("nn.functional."):
        place, parts, spoken = F, parts[2:], f"F.{parts[2]}"
    elif name.startswith(("torch.ops", "ops.")):
        return None, spoken
    for part in parts:
        place = getattr(place, part, None)
    return (place if callable(place) else None), spoken


def _dims(value: Any) -> int:
    if isinstance(value, list | tuple) and value and isinstance(value[0], torch.Tensor):
        return int(value[0].dim())
    return 0


def _renamed(
    name: str,
    function: Any,
    spoken: str,
    method: Any,
    first: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Iterator[Any]:
    """All arguments by keyword, and all of them by position."""
    for names in parameter_names(name, function or method):
        if args and len(names) > len(args) and not set(names[1 : len(args) + 1]) & set(kwargs):
            named = dict(zip(names[1:], args, strict=False)) | kwargs
            if function is not None:
                yield lambda words, named=named: _called(words, spoken, (first,), named)
                everything = {names[0]: first, **named}
                yield lambda words, every=everything: _called(words, spoken, (), every)
            if method is not None:
                yield lambda words, named=named: _called(
                    words, f"{words.of(first)}.{name}", (), named
                )
        order = names[len(args) + 1 :]
        if kwargs and set(kwargs) <= set(order) and set(order[: len(kwargs)]) == set(kwargs):
            placed = (*args, *(kwargs[key] for key in order[: len(kwargs)]))
            if function is not None:
                yield lambda words, placed=placed: _called(words, spoken, (first, *placed), {})
            if method is not None:
                yield lambda words, placed=placed: _called(
                    words, f"{words.of(first)}.{name}", placed, {}
                )


def _turned(
    name: str,
    function: Any,
    spoken: str,
    method: Any,
    first: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dims: int,
) -> Iterator[Any]:
    """Each argument that may be a dimension, counted from the other end."""
    for at, value in enumerate(args):
        turned = opposite(value, dims)
        if turned is None:
            continue
        changed = (*args[:at], turned, *args[at + 1 :])
        if function is not None:
            yield lambda words, changed=changed: _called(words, spoken, (first, *changed), kwargs)
        if method is not None:
            yield lambda words, changed=changed: _called(
                words, f"{words.of(first)}.{name}", changed, kwargs
            )
    for key, value in kwargs.items():
        turned = opposite(value, dims)
        if turned is None:
            continue
        other = {**kwargs, key: turned}
        if function is not None:
            yield lambda words, other=other: _called(words, spoken, (first, *args), other)
        if method is not None:
            yield lambda words, other=other: _called(
                words, f"{words.of(first)}.{name}", args, other
            )
