"""A case: an expression on rows of a batch, and what it means in truth."""

import re
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = 7
"""The size that a dimension gets which is too small to be cut into unequal slices."""
FEW = 2
"""The rows of a batch that is too small for three workers."""
LARGEST = 3000
"""The most numbers that an operand may have: it is about the operation, not about its speed."""


WRAPPED = re.compile(r"class Own.*self\.inner = (.*?)\n.*", re.DOTALL)
"""A layer inside a network of the script's own."""


@dataclass(frozen=True)
class Operand:
    """A tensor of a case; `dim` is the dimension that is the batch, None if it is replicated."""

    value: torch.Tensor
    dim: int | None = None


@dataclass(frozen=True)
class Case:
    """An expression over named operands."""

    family: str
    entry: str
    expression: str
    operands: dict[str, Operand]
    setup: tuple[str, ...] = ()
    known: bool = True
    """Whether the script shows the number of dimensions of its operands."""

    @property
    def key(self) -> str:
        """What makes two cases the same one: everything but the numbers in the tensors."""
        shapes = [
            f"{name}:{str(operand.value.dtype)[6:]}{list(operand.value.shape)}@{operand.dim}"
            for name, operand in self.operands.items()
        ]
        known = "" if self.known else " (rank unknown)"
        lines = [WRAPPED.sub(r"layer = Own(\1)", line) for line in self.setup]
        return "; ".join([*lines, self.expression]) + "  # " + " ".join(shapes) + known

    @property
    def digest(self) -> int:
        """A number that is the same in every run, for choices that should look random."""
        return zlib.crc32(self.key.encode())

    @property
    def rows(self) -> int:
        return next(
            operand.value.shape[operand.dim]
            for operand in self.operands.values()
            if operand.dim is not None
        )

    @property
    def dim(self) -> int:
        """Where the batch is in the first operand that has rows of it."""
        return next(operand.dim for operand in self.operands.values() if operand.dim is not None)

    @property
    def is_empty(self) -> bool:
        return any(operand.value.numel() == 0 for operand in self.operands.values())

    @property
    def workers(self) -> int:
        """So many that their slices are not equal."""
        return 2 if self.rows % 2 else 3

    def sliced(self, start: int, end: int) -> dict[str, torch.Tensor]:
        """The operands of a worker that has these rows."""
        return {
            name: operand.value
            if operand.dim is None
            else operand.value.narrow(operand.dim, start, end - start)
            for name, operand in self.operands.items()
        }

    @property
    def trains_layer(self) -> bool:
        """Whether there is a layer that has parameters of its own."""
        names: dict[str, Any] = {"torch": torch, "nn": nn}
        exec("\n".join(self.setup), names)
        return "layer" in names and any(True for _ in names["layer"].parameters())

    def evaluate(self, tensors: dict[str, torch.Tensor], seed: int = 1) -> Any:
        """The value of the bare expression, without any script around it."""
        names: dict[str, Any] = {"torch": torch, "nn": nn, "F": F, "np": np}
        before = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        try:
            torch.manual_seed(0)
            exec("\n".join(self.setup), names)
            names.update({name: tensor.clone() for name, tensor in tensors.items()})
            torch.manual_seed(seed)
            return eval(self.expression, names)
        finally:
            torch.set_default_dtype(before)


@dataclass(frozen=True)
class Truth:
    """What an expression is along the batch dimension."""

    word: str
    value: Any
    fits_few: bool
    """Whether it also takes a batch of two rows."""
    dim: int | None = None
    """The dimension of the rows in the (first) result, if it is row-wise."""


ROW_WISE, SUM, MEAN, SAME, MIXES = "row-wise", "sum", "mean", "replicated", "mixes rows"


def find_truth(case: Case) -> Truth | None:
    """Tries the expression on the whole and on slices; None if it cannot be told what it gives."""
    whole = _try(case, 0, case.rows)
    if whole is None or not _is_usable(whole):
        return None
    if not _agree(whole, _try(case, 0, case.rows, seed=2)):
        return None  # random, or uninitialised
    cut = (case.rows + 1) // 2
    parts = [_try(case, 0, cut), _try(case, cut, case.rows)]
    word = MIXES
    if all(part is not None for part in parts):
        word = _relation(whole, parts, [cut, case.rows - cut])
        empty = _try(case, 0, 0)
        if word == ROW_WISE and empty is not None:
            # An operation that makes something of no rows would add it to the others' rows.
            if _relation(whole, [empty, *parts], [0, cut, case.rows - cut]) != ROW_WISE:
                word = MIXES
    fits_few = _try(case, 0, min(FEW, case.rows)) is not None
    dim = _row_dim(leaves(whole)[0], [leaves(p)[0] for p in parts]) if word == ROW_WISE else None
    return Truth(word, whole, fits_few, dim)


def _try(case: Case, start: int, end: int, seed: int = 1) -> Any:
    try:
        return case.evaluate(case.sliced(start, end), seed)
    except Exception:
        return None


def leaves(value: Any) -> list[Any]:
    """The tensors and numbers in a result, in order."""
    if isinstance(value, torch.Size):
        return [torch.tensor(list(value))]
    if isinstance(value, list | tuple):
        return [leaf for item in value for leaf in leaves(item)]
    if isinstance(value, np.ndarray | np.generic):
        return [torch.as_tensor(np.array(value))] if value.dtype.kind in "fiub" else [value]
    if isinstance(value, bool | int | float | complex):
        return [torch.tensor(value)]
    return [value]


def _is_usable(value: Any) -> bool:
    found = leaves(value)
    return bool(found) and all(
        isinstance(leaf, torch.Tensor)
        and leaf.layout == torch.strided
        and not leaf.is_quantized
        and leaf.numel() <= 4 * LARGEST
        for leaf in found
    )


def alike(left: torch.Tensor, right: torch.Tensor, tolerance: float = 1e-9) -> bool:
    """Whether two tensors have the same shape, type and, up to rounding, numbers."""
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if not left.dtype.is_floating_point and not left.dtype.is_complex:
        return bool(torch.equal(left, right))
    if left.numel() == 0:
        return True
    wide = torch.complex128 if left.dtype.is_complex else torch.float64
    tolerance = max(tolerance, 1e-5 if left.dtype in (torch.float32, torch.complex64) else 0.0)
    tolerance = max(tolerance, 1e-2 if left.dtype in (torch.float16, torch.bfloat16) else 0.0)
    one, other = left.detach().to(wide), right.detach().to(wide)
    finite = one[torch.isfinite(one)].abs()
    scale = float(finite.max()) if finite.numel() else 0.0
    return bool(
        torch.allclose(one, other, rtol=tolerance, atol=tolerance * scale + 1e-12, equal_nan=True)
    )


def _agree(left: Any, right: Any) -> bool:
    if right is None:
        return False
    one, other = leaves(left), leaves(right)
    return len(one) == len(other) and all(map(alike, one, other))


def _relation(whole: Any, parts: list[Any], sizes: list[int]) -> str:
    """How the value of the whole follows from those of the slices."""
    wholes, pieces = leaves(whole), [leaves(part) for part in parts]
    if any(len(piece) != len(wholes) for piece in pieces):
        return MIXES
    words = set()
    for at, leaf in enumerate(wholes):
        mine = [piece[at] for piece in pieces]
        if not all(isinstance(item, torch.Tensor) for item in mine):
            return MIXES
        words.add(_leaf_relation(leaf, mine, sizes))
    if len(words) == 1:
        return words.pop()
    return ROW_WISE if words == {ROW_WISE, SAME} else MIXES


def _leaf_relation(leaf: torch.Tensor, mine: list[torch.Tensor], sizes: list[int]) -> str:
    # A one of rank 0 has no rows, and equal values say nothing of a constant one.
    if all(alike(leaf, item) for item in mine):
        return SAME
    if _row_dim(leaf, mine) is not None:
        return ROW_WISE
    if any(item.shape != leaf.shape or item.dtype == torch.bool for item in mine):
        return MIXES
    try:
        if alike(leaf, sum(mine[1:], mine[0])):
            return SUM
        weighted = [item * size for item, size in zip(mine, sizes, strict=True) if size]
        if alike(leaf.double(), (sum(weighted[1:], weighted[0]) / sum(sizes)).double()):
            return MEAN
    except Exception:
        return MIXES
    return MIXES


def _row_dim(leaf: torch.Tensor, mine: list[torch.Tensor]) -> int | None:
    """The dimension along which the slices' results are the rows of the whole's."""
    for dim in range(leaf.dim()):
        try:
            if alike(leaf, torch.cat(mine, dim)):
                return dim
        except Exception:
            continue
    return None
