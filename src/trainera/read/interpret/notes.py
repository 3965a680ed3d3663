"""What is found on the way: everything that goes into `Facts` goes by here."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from trainera.read.facts import (
    Backward,
    Carrier,
    Context,
    Escape,
    Facts,
    FirstBatch,
    Freeze,
    Key,
    LoaderFact,
    LoopFact,
    Spot,
    Step,
    Tally,
    Trouble,
    Weighed,
)
from trainera.read.interpret.state import Frame, Path
from trainera.read.source.file import SourceFile
from trainera.read.values import Nodes, Shard, Value

Record = TypeVar("Record")


@dataclass
class Trial:
    """A look at some code that may have started from too little."""

    holds: bool = False


class Records(Generic[Record]):
    """The records of one kind, by where they stand and by how the function around is called."""

    found: dict[Any, Record]
    """Those of the facts that are written at the moment."""

    def __init__(self, name: str) -> None:
        self.name = name

    def key(self, node: ast.AST, frame: Frame) -> object:
        return frame.context, node

    def set(self, node: ast.AST, frame: Frame, record: Record) -> None:
        self.found[self.key(node, frame)] = record

    def get(self, node: ast.AST, frame: Frame) -> Record | None:
        return self.found.get(self.key(node, frame))

    def drop(self, node: ast.AST, frame: Frame) -> None:
        self.found.pop(self.key(node, frame), None)


class Spots(Records[Spot]):
    """Places that a rule changes."""

    def mark(self, node: ast.expr, frame: Frame, what: str) -> None:
        self.set(node, frame, Spot(node=node, file=frame.file, what=what))


class ByNode(Records[Record]):
    """The same for what is made once, however often the function around is called."""

    def key(self, node: ast.AST, frame: Frame) -> object:
        return node


class SpotsByNode(ByNode[Spot]):
    """Places of that sort."""

    def mark(self, node: ast.AST, frame: Frame, what: str, at: ast.expr | None = None) -> None:
        place = at if at is not None else node
        assert isinstance(place, ast.expr)
        self.set(node, frame, Spot(node=place, file=frame.file, what=what))


class Marks:
    """Places of which something holds."""

    found: set[Key]

    def __init__(self, name: str) -> None:
        self.name = name

    def add(self, node: ast.AST, frame: Frame) -> None:
        self.found.add((frame.context, node))

    def drop(self, node: ast.AST, frame: Frame) -> None:
        self.found.discard((frame.context, node))


class Notes:
    """The findings of a reading, and the only one who writes them down."""

    def __init__(self, files: dict[str, SourceFile], path: Path) -> None:
        self.files = files
        self.path = path
        self.loops: Records[LoopFact] = Records("loops")
        self.escapes: Records[Escape] = Records("escapes")
        self.tallies: Records[Tally] = Records("tallies")
        self.backwards: Records[Backward] = Records("backwards")
        self.weighed: Records[Weighed] = Records("weighed")
        self.first_batches: Records[FirstBatch] = Records("first_batches")
        self.grads: Records[tuple[Spot, Nodes]] = Records("grads")
        self.lists: Records[Nodes] = Records("lists")
        self.cuts = Spots("cuts")
        self.bare = Spots("bare")
        self.through = Spots("through")
        self.once = Spots("once")
        self.in_turn = Spots("in_turn")
        self.agree = Spots("agree")
        self.alike = Spots("alike")
        self.loose = Spots("loose")
        self.meters = Spots("meters")
        self.unsure = Spots("unsure")
        self.own_workers = Spots("own_workers")
        self.untrue = Spots("untrue")
        self.loaders: ByNode[LoaderFact] = ByNode("loaders")
        self.optimizers: ByNode[Nodes] = ByNode("optimizers")
        self.handmade = SpotsByNode("handmade")
        self.parallels = SpotsByNode("parallels")
        self.unclear = SpotsByNode("unclear")
        self.free = SpotsByNode("free")
        self.aside = SpotsByNode("aside")
        self.plain = Marks("plain")
        self.plain_models = Marks("plain_models")
        self.shares = Marks("shares")
        self.unlike = Marks("unlike")
        self._write_into(Facts(files=files))

    def _write_into(self, facts: Facts) -> None:
        self.facts = facts
        for records in vars(self).values():
            if isinstance(records, Records | Marks):
                records.found = getattr(facts, records.name)

    def begin_reading(self) -> None:
        self._write_into(Facts(files=self.files))

    @contextmanager
    def on_trial(self) -> Iterator[Trial]:
        """What is found out inside is forgotten, unless it turns out that it holds.

        What values are is remembered.
        """
        facts, open_loops = self.facts, self.path.open_loops
        loops = [(loop, loop.training, loop.collective) for loop in open_loops]
        backwards = [(loop, set(loop.backwards)) for loop in open_loops]
        self._write_into(facts.copy())
        trial = Trial()
        yield trial
        if not trial.holds:
            self._write_into(facts)
            for loop, training, collective in loops:
                loop.training, loop.collective = training, collective
            for loop, steps in backwards:
                loop.backwards.clear()
                loop.backwards.update(steps)

    def step(
        self, node: ast.AST, frame: Frame, calls: frozenset[tuple[ast.AST, ast.AST]], backward: bool
    ) -> None:
        """A network is called, or gradients are computed."""
        step = Step(node=node, file=frame.file, backward=backward, calls=calls)
        self.facts.steps.append(step)

    def carrier(self, carrier: Carrier) -> None:
        """A variable holds a network from now on."""
        self.facts.carriers.append(carrier)

    def first_use(self, network: ast.AST) -> None:
        """A network is given a batch."""
        self.facts.first_use.setdefault(network, len(self.facts.carriers))

    def freeze(self, network: ast.AST, node: ast.AST, used: bool) -> None:
        """Parameters of a network are frozen or freed."""
        self.facts.freezes[network, node] = Freeze(carriers=len(self.facts.carriers), used=used)

    def name(self, origin: ast.AST, name: str) -> None:
        """A loop or loader needs a name."""
        self.facts.names[origin] = name

    def call(self, asked: object, gave: Any) -> None:
        """What a call inside of a network gave."""
        self.facts.calls[asked] = gave

    def uses_statistics(self) -> None:
        """Some network uses those of the batch."""
        self.facts.batchnorm = True

    def normalises(self, networks: Nodes) -> None:
        """Networks that may use statistics of the batch are given one."""
        self.facts.normalising |= networks

    def guesses_layout(self) -> None:
        """Where the batch lies in what a network gives is not seen."""
        self.facts.guessed = True

    def hides_layers(self) -> None:
        """Some network has layers that cannot be seen."""
        self.facts.hidden = True

    def draws_in_network(self) -> None:
        self.facts.draws = True

    def called(self, context: Context) -> None:
        """A function is called in this way, or read as if a value were one of several."""
        self.facts.contexts.add(context)

    def never_alone(self) -> None:
        """On every path the script makes workers of its own."""
        self.facts.parallel = True

    def unsure_of(self, node: ast.expr, frame: Frame) -> None:
        """Inside a network: whether rows are combined is tried when it runs."""
        self.unsure.mark(node, frame, ast.unparse(node))

    def may_be_lists(self, node: ast.expr, frame: Frame, *values: Value) -> None:
        """Tensors are computed with here; lists among the batch's fields would be joined."""
        shards = [value for value in values if isinstance(value, Shard)]
        self.lists.set(node, frame, frozenset().union(*(shard.loaders for shard in shards)))

    def trouble(
        self, rule: str, code: str, node: ast.AST, frame: Frame, loaders: Nodes, **details: str
    ) -> None:
        """Something that a rule refuses, which has the words for it (`REFUSALS`)."""
        self.facts.troubles[node, rule] = Trouble(
            rule=rule,
            code=code,
            node=node,
            file=frame.file,
            loaders=loaders,
            details=tuple(details.items()),
        )
