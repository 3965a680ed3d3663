"""What a value is, as seen from the crew: the same on every worker, or a share of a batch.

The analyser gives every expression a *kind*. The kinds of shares form a small algebra: a mean over
a slice times its count is a sum, a sum over a count is a mean, a slice compared with a slice is a
slice. Where a share leaves the part of the program that this algebra understands, the value of the
whole batch is put in its place; how is decided by the kind.
"""

import ast
from dataclasses import dataclass, field
from typing import Any

Nodes = frozenset[ast.AST]
NOBODY: Nodes = frozenset()
Calls = frozenset[tuple[ast.AST, bool, ast.AST]]
"""Networks that a value was computed with: whether through the wrapper, and by which call."""


@dataclass(frozen=True)
class Kind:
    """Base of all kinds; by itself: a plain value, the same on every worker."""


@dataclass(frozen=True)
class Const(Kind):
    """A known constant. `born` is the batch loop in whose body it was written down, if any."""

    value: Any
    born: ast.AST | None = None


@dataclass(frozen=True)
class Own(Kind):
    """A value each worker has of its own without it being a share: clock, file system."""

    what: str


@dataclass(frozen=True)
class Hashed(Kind):
    """A set: the same items on every worker, perhaps in another order."""


@dataclass(frozen=True)
class Solo(Kind):
    """What only the first worker has: a file it writes, a run of a tracking service."""


@dataclass(frozen=True)
class External(Kind):
    """Something of a library, by its dotted name."""

    name: str


@dataclass(frozen=True)
class Thing(Kind):
    """What calling something of a library gave, role unknown."""

    origin: ast.AST
    name: str


@dataclass(frozen=True)
class Func(Kind):
    """A function of the script's, perhaps bound to an object."""

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: str
    bound: Kind | None = None
    scope: int = 0
    """The frame it was defined in, for closures."""
    owner: ast.ClassDef | None = None


@dataclass(frozen=True)
class Class(Kind):
    node: ast.ClassDef
    module: str


@dataclass(frozen=True)
class Either(Kind):
    """One of several functions or classes of the script's, chosen when it runs."""

    functions: tuple[Func | Class, ...]
    unseen: bool = False
    """It may be another one, which a name at run time stands for."""


@dataclass(frozen=True)
class Instance(Kind):
    """An object of a class of the script's (not a network)."""

    cls: Class


@dataclass(frozen=True)
class Super(Kind):
    """An object as one of the base classes of its class sees it."""

    of: Instance
    bases: tuple[Class, ...]


@dataclass(frozen=True)
class Model(Kind):
    """A network. `wrapped` once the engine's wrapper is around it; None: on some paths only."""

    origins: Nodes
    """The calls that may have made it."""
    cls: Class | None = None
    wrapped: bool | None = False
    part: bool = False
    """A layer of the network, reached as an attribute."""
    parallel: bool = False
    """Inside `nn.DataParallel`, which the engine replaces."""
    layer: str = ""
    """The name of torch's class, for a layer of torch's."""
    layout: str = ""
    """``sequence``: it takes the batch second; ``batch``: it works across the batch."""
    inside: tuple["Model", ...] = ()
    """Networks of the script's own that a container of torch's holds."""
    choices: tuple[Class | None, ...] = ()
    """If it may be of several classes: which; None for one that is not the script's own."""

    @property
    def classes(self) -> tuple[Class | None, ...]:
        """The classes that it may be of."""
        return self.choices or (self.cls,)


@dataclass(frozen=True)
class Params(Kind):
    """Parameters of networks. Unless `known`, there may be others among them."""

    models: Nodes
    known: bool = True


@dataclass(frozen=True)
class Optimizer(Kind):
    origin: ast.AST


@dataclass(frozen=True)
class Loss(Kind):
    """A loss function: how it reduces (``mean``, ``sum``, ``none``) or why that is not known."""

    reduction: str
    trouble: str = ""
    weighted: bool = False
    """Its mean is over class weights or over the targets that are not ignored."""
    paired: bool = False
    """It compares outputs and targets number by number: the two have one shape."""


@dataclass(frozen=True)
class Loader(Kind):
    origins: Nodes


@dataclass(frozen=True)
class Iter(Kind):
    """An iterable whose elements hold batches of loaders (enumerate, tqdm, zip, a generator)."""

    loaders: Nodes
    element: Kind


@dataclass(frozen=True)
class Bunch(Kind):
    """A tuple or list of known length."""

    items: tuple[Kind, ...]
    born: ast.AST | None = None


@dataclass(frozen=True)
class Listing(Kind):
    """A list of unknown length, or a dictionary with unknown keys."""

    element: Kind
    born: ast.AST | None = None


@dataclass(frozen=True)
class Mapping(Kind):
    """A dictionary with known string keys."""

    items: tuple[tuple[str, Kind], ...]

    def get(self, key: str) -> Kind | None:
        return dict(self.items).get(key)


@dataclass(frozen=True)
class Record(Mapping):
    """A named tuple or another object that only holds values, each under a name and in order."""


@dataclass(frozen=True)
class Partial(Kind):
    """A function with some of its arguments, by `functools.partial`."""

    function: Kind
    positional: tuple[Kind, ...]
    keywords: tuple[tuple[str, Kind], ...]


@dataclass(frozen=True)
class Share(Kind):
    """Base of what a worker has of a batch."""

    loaders: Nodes
    models: Calls = field(default=frozenset(), kw_only=True)
    """Networks it was computed with, whether that went through the wrapper, and by which call."""


@dataclass(frozen=True)
class Shard(Share):
    """A tensor, array or list cut along dimension `dim`, or a structure of such (`nested`)."""

    dim: int | None = 0
    nested: bool = False
    ragged: bool = False
    """Rows were picked by a condition: their number is no longer in proportion to the slice."""
    rank: int | None = None
    vague: bool = False
    """It may have one dimension only: the last could be the batch."""
    parts: int = 1
    """So many slices one after the other, as of two views of the same samples by `torch.cat`."""
    mask: bool = False
    """True or false for each entry: as an index it picks rows, whereas numbers point to rows."""


@dataclass(frozen=True)
class Whole(Kind):
    """Something made of the whole batch's value, the same on every worker."""

    loaders: Nodes
    rows: bool = True
    """It may have the rows of the whole batch: then it fits no worker's slice."""
    number: bool = False
    """It is made of the number of samples: what is made to that size has such rows."""
    models: Calls = frozenset()
    """The networks that gradients flow back to: also to the other workers' parts."""
    made: ast.AST | None = field(default=None, compare=False)
    """Where it was made whole, for messages."""
    order: bool = False
    """It is the rows' numbers in another order, as `torch.randperm` gives it."""
    aligned: bool = False
    """Its rows come first and are as many as the batch has samples."""
    drawn: bool = False
    """It is made of random numbers, and of nothing of the batch."""


@dataclass(frozen=True)
class Shape(Share):
    """The shape of a shard."""

    dim: int | None = 0
    ragged: bool = False
    rank: int | None = None
    vague: bool = False
    """The last dimension may be the batch."""


@dataclass(frozen=True)
class Count(Share):
    """The number of samples (or rows, in proportion) of a slice."""


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


def left_over(name: str, loaders: Nodes, of: str, acts: bool = False) -> Lost:
    """What a name holds of an earlier batch or pass."""
    return Lost(
        loaders,
        acts=acts,
        why=f"'{name}' is left over from an earlier {of}",
        do="keep it in the loop that has the batch: in a list, or by if first is None: first = x",
    )


PLAIN = Kind()
UNKNOWN_YET = Const(None)
"""What a function gives that is still being read: where paths meet, the other one counts."""


@dataclass(frozen=True)
class OwnModule(Kind):
    """A module of the script's own."""

    name: str
