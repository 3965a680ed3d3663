"""Values that play a role in training: networks, parameters, optimizers, losses, loaders."""

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trainera.read.values.base import Answer, Nodes, Opaque, Value
from trainera.read.values.code import Class
from trainera.read.values.shares import Shard

if TYPE_CHECKING:
    from trainera.read.interpret.site import Site


@dataclass(frozen=True)
class Network(Opaque):
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
    made: tuple[tuple[Value, ...], tuple[tuple[str, Value], ...]] | None = None
    """What a layer of torch's was made with: by position, and by name."""
    inside: tuple["Network", ...] = ()
    """Networks that a container of torch's holds."""
    ordered: bool = False
    """They are called one after the other, in this order, and there are no others."""
    alternatives: tuple["Network", ...] = ()
    """The layers of torch's that it may be, if they differ."""
    choices: tuple[Class | None, ...] = ()
    """If it may be of several classes: which; None for one that is not the script's own."""

    @property
    def classes(self) -> tuple[Class | None, ...]:
        """The classes that it may be of."""
        return self.choices or (self.cls,)

    def iterate(self) -> tuple[Value, ...]:
        told = [one for one in self.inside if one.cls or one.choices or one.layer or one.inside]
        return tuple(told) or self.inside[:1]


@dataclass(frozen=True)
class Parameters(Opaque):
    """Parameters of networks. Unless `known`, there may be others among them."""

    models: Nodes
    known: bool = True

    def iterate(self) -> tuple[Value, ...]:
        return (self,)

    def index(self, site: "Site[ast.Subscript]") -> Value:
        return site.machine.subscripts.of_many(self, site.node, site.frame)


@dataclass(frozen=True)
class Optimizer(Opaque):
    origin: ast.AST


@dataclass(frozen=True)
class LossFunction(Opaque):
    """A loss function: how it reduces (``mean``, ``sum``, ``none``) or why that is not known."""

    reduction: str
    trouble: str = ""
    weighted: bool = False
    """Its mean is over class weights or over the targets that are not ignored."""
    name: str = ""
    """Of torch's function that computes it."""


@dataclass(frozen=True)
class Loader(Opaque):
    origins: Nodes

    def iterate(self) -> tuple[Value, ...]:
        # A collate function of the script's own may give None for a field.
        collates = any(
            word.arg == "collate_fn"
            for made in self.origins
            for word in getattr(made, "keywords", ())
        )
        return (Shard(self.origins, nested=True, listed=Answer.MAYBE, maybe_none=collates),)


@dataclass(frozen=True)
class BatchIterable(Opaque):
    """An iterable whose elements hold batches of loaders (enumerate, tqdm, zip, a generator)."""

    loaders: Nodes
    element: Value

    def iterate(self) -> tuple[Value, ...]:
        return (self.element,)

    def method(self, name: str, site: "Site[ast.Call]") -> Value | None:
        return self.element if name == "__next__" else None
