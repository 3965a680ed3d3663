"""What a reading found: plain records that the rules turn into edits and refusals."""

import ast
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass, field, fields
from typing import TypeVar

from trainera.read.source.file import SourceFile
from trainera.read.values import Nodes, Share, Value

CURRENT = "crew.current()"
"""What the batches of the innermost loop come from, in the words of a converted script."""
Context = int
"""One way a function is called; 0 is module level."""
Key = tuple[Context, ast.AST]


@dataclass(frozen=True, kw_only=True)
class LoaderFact:
    """A loader is made here."""

    node: ast.Call
    file: SourceFile
    collate: Value | None
    """Its own way of making a batch of samples, if it has one."""
    ordered: bool
    """Neither shuffled nor sampled: any process would read it in the same order."""
    tensors: bool = False
    """All fields of its batches are tensors for certain, none is a list."""
    own: bool = False
    """It is none of torch's: the script's own code gives batches (`generators`)."""


@dataclass(kw_only=True)
class LoopFact:
    """A loop over batches."""

    node: ast.AST
    file: SourceFile
    loaders: Nodes
    text: str | None
    """The loader as written in that scope, e.g. ``self.train_loader``."""
    evaluating: bool
    """The network is certainly in evaluation mode when the loop starts."""
    zeros: frozenset[str] = frozenset()
    """Names that are zero when the loop starts."""
    before: frozenset[str] = frozenset()
    """Names that exist when the loop starts: what is bound to them outlives the batch."""
    training: bool = False
    collective: bool = False
    """Something in the body needs all workers at every step."""
    backwards: set[ast.AST] = field(default_factory=set)
    handmade: bool = False
    """The script makes its batches itself: there is one only after it was cut (`handmade`)."""
    direct: bool = True
    """Its batches come in its own rounds, not in those of a loop inside of it alone."""
    lingers: bool = False
    """What gives its batches outlives it, and no other loop over batches is around it."""


@dataclass(frozen=True, kw_only=True)
class Escape:
    """A share is used where only the whole batch's value makes sense."""

    node: ast.expr
    file: SourceFile
    method: str
    """How the whole is made: ``mean``, ``sum``, ``gather`` or ``combine``."""
    loaders: Nodes
    text: str
    how: str = ""
    """For ``combine``: how each part of a structure is made whole, as source."""


@dataclass(frozen=True, kw_only=True)
class Tally:
    """A share is added to a variable that outlives the batch."""

    node: ast.stmt
    value: ast.expr
    name: str
    file: SourceFile
    loop: ast.AST
    share: Share
    text: str
    starts_at_zero: bool


@dataclass(frozen=True, kw_only=True)
class Backward:
    """Gradients are computed here, from a share or from something that is none."""

    node: ast.Call
    value: ast.expr
    file: SourceFile
    kind: Value
    text: str
    loop: ast.AST | None


@dataclass(frozen=True, kw_only=True)
class Step:
    """A network is called, or gradients are computed."""

    node: ast.AST
    file: SourceFile
    backward: bool
    calls: frozenset[tuple[ast.AST, ast.AST]]
    """Networks, each with its call: the one made here, or those that the loss comes from."""


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """A figure that counts by something else than samples of its loop, and how it is weighed."""

    node: ast.expr
    file: SourceFile
    template: str
    blended: bool = False
    """It is added to figures of another loader's batch."""


@dataclass(frozen=True, kw_only=True)
class Carrier:
    """A statement after which a variable holds a network in the form in which it is trained."""

    node: ast.stmt
    target: ast.expr
    value: ast.expr | None
    """The expression to wrap; None: the variable is wrapped after the statement."""
    file: SourceFile
    models: Nodes
    conditional: bool = False
    """It stands under a condition or in a loop, so later statements may see the bare network."""
    repeated: bool = False
    """It is run again and again, e.g. once an epoch."""
    uncalled: bool = False
    """A container without a `forward` of its own, before which no wrapper can stand."""
    also: ast.Name | None = None
    """Another name of the same network: ``m = model.to(device)``."""


@dataclass(frozen=True, kw_only=True)
class Freeze:
    """Parameters of a network are frozen or freed."""

    carriers: int
    """How many there were by then."""
    used: bool
    """Whether the network had been given a batch."""


@dataclass(frozen=True, kw_only=True)
class Spot:
    """A single expression that a rule changes, e.g. a save or an access through the wrapper."""

    node: ast.expr
    file: SourceFile
    what: str


@dataclass(frozen=True, kw_only=True)
class FirstBatch:
    """The first batch of a loader is taken, apart from any loop over it."""

    loader: ast.expr
    file: SourceFile
    loaders: Nodes


@dataclass(frozen=True, kw_only=True)
class Trouble:
    """Something that cannot be split. If only evaluation needs it, the loader is left whole."""

    rule: str
    code: str
    """Which of the rule's refusals it is; the rule has the words for it."""
    node: ast.AST
    file: SourceFile
    loaders: Nodes
    details: tuple[tuple[str, str], ...] = ()
    """What the words leave open."""


Record = TypeVar("Record")


@dataclass(kw_only=True)
class Facts:
    """All findings of one reading of a script."""

    files: dict[str, SourceFile]
    loaders: dict[ast.AST, LoaderFact] = field(default_factory=dict)
    loops: dict[Key, LoopFact] = field(default_factory=dict)
    escapes: dict[Key, Escape] = field(default_factory=dict)
    plain: set[Key] = field(default_factory=set)
    """Expressions that were looked at as an escape and were none."""
    cuts: dict[Key, Spot] = field(default_factory=dict)
    """Rows that are made for the whole batch; what the loader is called there."""
    tallies: dict[Key, Tally] = field(default_factory=dict)
    backwards: dict[Key, Backward] = field(default_factory=dict)
    weighed: dict[Key, Weighed] = field(default_factory=dict)
    carriers: list[Carrier] = field(default_factory=list)
    """In the order in which they are run."""
    steps: list[Step] = field(default_factory=list)
    """Calls of networks and backward passes, in the order in which they are run."""
    first_use: dict[ast.AST, int] = field(default_factory=dict)
    """How many carriers there were when a network was first given a batch."""
    parallels: dict[ast.AST, Spot] = field(default_factory=dict)
    bare: dict[Key, Spot] = field(default_factory=dict)
    through: dict[Key, Spot] = field(default_factory=dict)
    """Networks whose methods have to go through the wrapper."""
    plain_models: set[Key] = field(default_factory=set)
    """Expressions that are asked for the same and are a bare network there."""
    first_batches: dict[Key, FirstBatch] = field(default_factory=dict)
    """Where the first batch of a loader is taken ahead of all loops."""
    handmade: dict[ast.AST, Spot] = field(default_factory=dict)
    """Batches that the script makes itself, and cuts of them the rows of a worker."""
    names: dict[ast.AST, str] = field(default_factory=dict)
    """Names for loops and loaders that have none, where one is needed."""
    once: dict[Key, Spot] = field(default_factory=dict)
    in_turn: dict[Key, Spot] = field(default_factory=dict)
    agree: dict[Key, Spot] = field(default_factory=dict)
    alike: dict[Key, Spot] = field(default_factory=dict)
    """Networks that are given the same on every worker while they train."""
    loose: dict[Key, Spot] = field(default_factory=dict)
    """Parameters of networks that are used outside of them, and by none of their methods."""
    free: dict[ast.AST, Spot] = field(default_factory=dict)
    """Parameters that belong to no network."""
    freezes: dict[tuple[ast.AST, ast.AST], Freeze] = field(default_factory=dict)
    """By network, and by the place where it is done."""
    aside: dict[ast.AST, Spot] = field(default_factory=dict)
    """Networks of which a part, such as a weight, is used in a loop over batches."""
    shares: set[Key] = field(default_factory=set)
    """Expressions that are shares of a batch."""
    meters: dict[Key, Spot] = field(default_factory=dict)
    """Metrics that would add up the workers' states by themselves."""
    contexts: set[Context] = field(default_factory=set)
    """The ways in which functions are called."""
    own_workers: dict[Key, Spot] = field(default_factory=dict)
    """Where the script makes workers of its own; what it calls there."""
    untrue: dict[Key, Spot] = field(default_factory=dict)
    """Where it asks whether it has."""
    parallel: bool = False
    """It does so on every path."""
    unsure: dict[Key, Spot] = field(default_factory=dict)
    """Operations inside of networks that mix rows only if a tensor has another rank than is usual:
    decided by trial when it runs."""
    optimizers: dict[ast.AST, Nodes] = field(default_factory=dict)
    grads: dict[Key, tuple[Spot, Nodes]] = field(default_factory=dict)
    """Where the gradients of parameters are read, and of which networks."""
    lists: dict[Key, Nodes] = field(default_factory=dict)
    """Loaders, of whose batches a field that may be a list is computed with as a tensor."""
    unlike: set[Key] = field(default_factory=set)
    """Networks that are given slices while they train."""
    unclear: dict[ast.AST, Spot] = field(default_factory=dict)
    """Optimizers that may train more than the parameters that were seen."""
    calls: dict[object, tuple[Value, frozenset[tuple[ast.AST, str]]]] = field(default_factory=dict)
    """What calls inside of networks gave, and which attributes were fresh after them (`calls`)."""
    batchnorm: bool = False
    """Some network uses batch statistics."""
    normalising: set[ast.AST] = field(default_factory=set)
    """Networks that may do so, given a batch while they are not in evaluation mode."""
    guessed: bool = False
    """Where the batch lies in what some network gives was not seen: in front, as it went in."""
    hidden: bool = False
    """Some network has layers that cannot be seen."""
    draws: bool = False
    """Some network draws numbers for the whole batch, perhaps to leave out layers by chance."""
    troubles: dict[tuple[ast.AST, str], Trouble] = field(default_factory=dict)

    def copy(self) -> "Facts":
        """The same findings in containers of their own."""
        return Facts(**{item.name: copy(getattr(self, item.name)) for item in fields(self)})

    def also_without(self, node: ast.AST, records: "dict[Key, Record]") -> bool:
        """Whether a share comes by there, in another call of the function, that has no record."""
        return any(key[1] is node and key not in records for key in self.shares)

    @property
    def script(self) -> SourceFile:
        return self.files["__main__"]

    @property
    def statistics(self) -> bool:
        """Whether a network may use those of the batch."""
        return self.batchnorm or self.hidden

    @property
    def trained(self) -> Nodes:
        """The networks whose parameters an optimizer updates."""
        empty: Nodes = frozenset()
        return empty.union(*self.optimizers.values())

    @property
    def makes_batches(self) -> bool:
        """The script's own code makes the batches, of random numbers that all workers share."""
        return bool(self.handmade) or any(loader.own for loader in self.loaders.values())

    @property
    def training_loaders(self) -> Nodes:
        empty: Nodes = frozenset()
        return empty.union(*(loop.loaders for loop in self.loops.values() if loop.training))


def by_node(records: dict[Key, Record]) -> Iterator[tuple[ast.AST, set[Record]]]:
    """The records of every node over all ways its function is called."""
    grouped: dict[ast.AST, set[Record]] = {}
    for (_, node), record in records.items():
        grouped.setdefault(node, set()).add(record)
    yield from grouped.items()


@dataclass(frozen=True, kw_only=True)
class Decisions:
    """What has been decided in an earlier reading and is taken for granted in the next."""

    wraps: frozenset[tuple[ast.stmt, ast.expr]] = frozenset()
    """Statements after which that variable of theirs holds a wrapped network."""
    whole: Nodes = frozenset()
    """Loaders that every worker reads in full."""
    models: Nodes = frozenset()
    """Calls of libraries that turned out to make a network."""
    first_batches: Nodes = frozenset()
    """Calls that give every worker a whole batch."""
    handmade: frozenset[tuple[ast.AST, ast.AST]] = frozenset()
    """Loops whose batches the script makes itself, and the expressions that give them."""
    streams: Nodes = frozenset()
    """Calls of the script's own code that give batches one after another."""
