"""Cases of torch's own database of operators: one dimension of a tensor is taken for the batch."""

import ast
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

from trainera.read.ops.layout import at
from trainera.read.values import PLAIN, Const, Items, LibraryObject, Shard, Value

LOADERS: Any = frozenset({ast.parse("loader").body[0]})
KNOWLEDGE = ("rank", "end", "1", "2")
"""What the analysis knows of the parts of a batch: the rank; how far the batch is from the end; or
where it lies from the front and a lower bound of the rank."""


@dataclass(frozen=True)
class Part:
    """A tensor of the batch, cut along a dimension."""

    tensor: torch.Tensor
    dim: int


def is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and not isinstance(value, torch.Size)


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """The same structure with its leaves changed."""
    return [mapped(item, change) for item in value] if is_list(value) else change(value)


def leaves(value: Any) -> list[Any]:
    return [leaf for item in value for leaf in leaves(item)] if is_list(value) else [value]


def replicated(tensor: torch.Tensor, *, seen: bool) -> Value:
    """A tensor that all workers have alike, made where its size can be seen, or not."""
    sizes = ", ".join(map(str, tensor.shape)) if seen else "*sizes"
    made = ast.parse(f"torch.zeros({sizes})" if tensor.dim() or not seen else "torch.tensor(1)")
    statement = made.body[0]
    assert isinstance(statement, ast.Expr)
    name = "torch.zeros" if tensor.dim() or not seen else "torch.tensor"
    return LibraryObject(statement.value, name)


def to_value(argument: Any, knows: str) -> Value:
    """What the analysis is told of an argument."""
    if is_list(argument):
        return Items(tuple(to_value(item, knows) for item in argument))
    if isinstance(argument, Part):
        rank = argument.tensor.dim()
        shard = Shard(LOADERS, dim=argument.dim, rank=rank)
        if knows == "rank":
            return shard
        if knows == "end":
            return at(shard, argument.dim - rank, None, 1)
        return at(shard, argument.dim, None, min(int(knows), rank))
    if isinstance(argument, torch.Tensor):
        return replicated(argument, seen=True)
    if isinstance(argument, torch.Size):
        return Items(tuple(Const(size) for size in argument))
    if argument is None or isinstance(argument, int | float | str):
        return Const(argument)
    return PLAIN


class Case:
    """One operation on one sample, cut in one way."""

    def __init__(self, what: str, function: Any, args: list[Any], kwargs: dict[str, Any]) -> None:
        self.what, self.function, self.args, self.kwargs = what, function, args, kwargs
        parts = [leaf for leaf in leaves([args, list(kwargs.values())]) if isinstance(leaf, Part)]
        self.batch = parts[0].tensor.shape[parts[0].dim]

    def run(self, rows: slice | None) -> list[torch.Tensor] | None:
        """The tensors that come out, of all rows or of some; None if something else does."""

        def cut(leaf: Any) -> Any:
            if not isinstance(leaf, Part):
                return leaf
            if rows is None:
                return leaf.tensor
            return leaf.tensor.narrow(leaf.dim, rows.start, rows.stop - rows.start)

        torch.manual_seed(0)
        kwargs = {word: mapped(value, cut) for word, value in self.kwargs.items()}
        return outputs(self.function(*mapped(self.args, cut), **kwargs))

    def ways(self) -> Iterator[list[slice]]:
        """Ways to cut the batch into slices; none has a single row, as the crew sees to it."""
        for first in sorted({2, self.batch // 2 + self.batch % 2, self.batch - 2}):
            yield [slice(0, first), slice(first, self.batch)]


def outputs(result: Any) -> list[torch.Tensor] | None:
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, list | tuple):
        found = [outputs(item) for item in result]
        return None if None in found else list(itertools.chain(*(one for one in found if one)))
    return [torch.tensor(result)] if isinstance(result, bool | int | float) else None


def cases(entry: Any, most: int) -> Iterator[Case]:
    """At most so many samples of an entry, each dimension of the first tensor as the batch.

    Other tensors are parts of the same batch, aligned in front or at the end, or replicated.
    """
    for number, sample in enumerate(samples(entry, most)):
        inputs = [sample.input, *sample.args]
        everything = leaves([inputs, list(sample.kwargs.values())])
        tensors = [leaf for leaf in everything if isinstance(leaf, torch.Tensor)]
        if not tensors or any(not tensor.numel() for tensor in tensors):
            continue
        main = tensors[0]
        for dim, how in itertools.product(range(main.dim()), ("alone", "front", "end")):
            cut = cutting(main, dim, how)
            among = [cut(leaf) for leaf in tensors[1:]]
            if main.shape[dim] < 4 or (how != "alone") != any(isinstance(o, Part) for o in among):
                continue
            shapes = [tuple(tensor.shape) for tensor in tensors]
            what = f"{entry.name} #{number} {shapes} {list(sample.kwargs)} batch {dim}, {how}"
            kwargs = {word: mapped(value, cut) for word, value in sample.kwargs.items()}
            yield Case(what, entry.op, mapped(inputs, cut), kwargs)


def cutting(main: torch.Tensor, dim: int, how: str) -> Callable[[Any], Any]:
    """Makes parts of a batch of the tensors that have its rows."""

    def cut(leaf: Any) -> Any:
        if leaf is main:
            return Part(main, dim)
        if how == "alone" or not isinstance(leaf, torch.Tensor):
            return leaf
        place = dim if how == "front" else dim - main.dim() + leaf.dim()
        fits = 0 <= place < leaf.dim() and leaf.shape[place] == main.shape[dim]
        return Part(leaf, place) if fits else leaf

    return cut


def samples(entry: Any, most: int) -> list[Any]:
    for dtype in (torch.float64, torch.int64):
        try:
            found = list(entry.sample_inputs("cpu", dtype))
        except Exception:
            continue
        return found[:: max(1, len(found) // most)][:most]
    return []
