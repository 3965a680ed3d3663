"""Cases from their keys, so that a case that was wrong can be kept as a line of text."""

import re
import zlib

import torch

from tests.operations.cases import Case, Operand
from tests.operations.layers import wrapped

UNKNOWN = " (rank unknown)"
OPERAND = re.compile(r"(\w+):(\w+)\[([\d, ]*)\]@(None|\d+)")
LAYER = re.compile(r"layer = Own\((.*)\)$")


def case_of(key: str, family: str = "forms", entry: str = "by key") -> Case:
    """The case of a key, with other numbers in its tensors: a key has none."""
    words, _, shapes = key.partition("  # ")
    known = UNKNOWN not in shapes
    *setup, expression = words.split("; ")
    operands = {
        name: Operand(
            _numbers(name, getattr(torch, dtype), [int(size) for size in sizes.split(",") if size]),
            None if dim == "None" else int(dim),
        )
        for name, dtype, sizes, dim in OPERAND.findall(shapes)
    }
    count = len(re.findall(r"\b(?:[hkw]\d?|y)\b", expression.partition("layer(")[2]))
    lines = tuple(
        wrapped(match[1], count) if (match := LAYER.match(line)) else line for line in setup
    )
    return Case(family, entry, expression, operands, lines, known)


def _numbers(name: str, dtype: torch.dtype, shape: list[int]) -> torch.Tensor:
    """Numbers that most operations take: between 0.1 and 1, or indices of three things."""
    generator = torch.Generator().manual_seed(zlib.crc32(f"{name}{shape}".encode()))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) > 0.4
    if dtype.is_floating_point:
        return (0.1 + 0.9 * torch.rand(shape, generator=generator, dtype=torch.float64)).to(dtype)
    if dtype.is_complex:
        return torch.rand(shape, generator=generator, dtype=torch.float64).to(dtype)
    return torch.randint(0, 3, shape, generator=generator).to(dtype)
