"""What a worker has of a batch, and what is made of the whole batch."""

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trainera.read.values.base import PLAIN, Answer, Nodes, Value

if TYPE_CHECKING:
    from trainera.read.interpret.site import Site

NetworkCalls = frozenset[tuple[ast.AST, bool, ast.AST]]
"""Networks that a value was computed with: whether through the wrapper, and by which call."""


@dataclass(frozen=True)
class Share(Value):
    """Base of what a worker has of a batch."""

    loaders: Nodes
    models: NetworkCalls = field(default=frozenset(), kw_only=True)
    """Networks it was computed with, whether that went through the wrapper, and by which call."""

    def iterate(self) -> tuple[Value, ...]:
        why = "a batch is taken apart sample by sample"
        return (Lost(self.loaders, why, models=self.models),)

    def unpack(self, place: int, length: int) -> Value | None:
        return Lost(self.loaders, "it is taken apart", models=self.models)

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        return None  # what tensors do is told by the library of tensors


@dataclass(frozen=True)
class Shard(Share):
    """A tensor, array or list cut along dimension `dim`, or a structure of such (`nested`).

    A negative `dim` counts from the end: the rank is not known then. None: it may be any.
    """

    dim: int | None = 0
    nested: bool = False
    ragged: bool = False
    """Rows were picked by a condition: their number is no longer in proportion to the slice."""
    rank: int | None = None
    least: int = 1
    """How many dimensions it has at the least, where the rank is not known."""
    parts: int = 1
    """So many slices one after the other, as of two views of the same samples by `torch.cat`."""
    mask: bool = False
    """True or false for each entry: as an index it picks rows, whereas numbers point to rows."""
    array: bool = False
    """It is an array of numpy's."""
    listed: Answer = Answer.NO
    """Whether it is a list or tuple of Python's, which `+` joins and `*` repeats."""

    def __post_init__(self) -> None:
        """What is known of the dimensions is said in one way only."""
        dim, rank = self.dim, self.rank
        if dim is not None and dim < 0 and rank is not None:
            object.__setattr__(self, "dim", dim + rank)
        bound = 1 if dim is None else dim + 1 if dim >= 0 else -dim
        object.__setattr__(self, "least", rank if rank is not None else max(self.least, bound))

    def unpack(self, place: int, length: int) -> Value | None:
        return self if self.nested else self.iterate()[0]


@dataclass(frozen=True)
class Gathered(Value):
    """Something made of the whole batch's value, the same on every worker."""

    loaders: Nodes
    rows: bool = True
    """It may have the rows of the whole batch: then it fits no worker's slice."""
    number: bool = False
    """It is made of the number of samples: what is made to that size has such rows."""
    models: NetworkCalls = frozenset()
    """The networks that gradients flow back to: also to the other workers' parts."""
    made: ast.AST | None = field(default=None, compare=False)
    """Where it was made whole, for messages."""
    order: bool = False
    """It is the rows' numbers in another order, as `torch.randperm` gives it."""
    aligned: bool = False
    """Its rows come first and are as many as the batch has samples."""
    drawn: bool = False
    """It is made of random numbers, and of nothing of the batch."""

    def iterate(self) -> tuple[Value, ...]:
        return (self,)

    def getattr(self, name: str, site: "Site[ast.Attribute]") -> Value:
        return self


@dataclass(frozen=True)
class ShardShape(Share):
    """The shape of a shard."""

    dim: int | None = 0
    ragged: bool = False
    rank: int | None = None
    least: int = 1

    def unpack(self, place: int, length: int) -> Value | None:
        if self.dim is None:
            return Lost(self.loaders, "which of its sizes is the number of samples is not known")
        batch = self.dim if self.dim >= 0 else self.dim + length
        return PLAIN if place != batch else (Sum if self.ragged else Count)(self.loaders)


@dataclass(frozen=True)
class Count(Share):
    """The number of samples (or rows, in proportion) of a slice."""

    scaled: bool = False
    """Times something, perhaps no whole number."""


@dataclass(frozen=True)
class Sum(Share):
    """A sum over the slice: the whole batch's is the sum over the workers."""


@dataclass(frozen=True)
class Mean(Share):
    """A mean over the slice: the whole batch's is the average weighted by the slices' sizes."""


@dataclass(frozen=True)
class Blend(Share):
    """A sum of figures of several loaders' batches, each counted by its part of its own batch."""


@dataclass(frozen=True)
class Lost(Share):
    """A share of which the whole cannot be told; `why` says how it came to be."""

    why: str = ""
    do: str = "compute it from sums or means over the batch, or after the loop"
    acts: bool = False
    """An object or a function, which may do anything with it."""

    def unpack(self, place: int, length: int) -> Value | None:
        return self

    def call(self, site: "Site[ast.Call]") -> Value | None:
        # A function that holds something of an earlier batch.
        return site.machine.gathering.gather(site.node.func, self, site.frame)


def left_over(name: str, loaders: Nodes, of: str, acts: bool = False) -> Lost:
    """What a name holds of an earlier batch or pass."""
    return Lost(
        loaders,
        acts=acts,
        why=f"'{name}' is left over from an earlier {of}",
        do="keep it in the loop that has the batch: in a list, or by if first is None: first = x",
    )
