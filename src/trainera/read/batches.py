"""Batches that are taken from a loader in other ways than by a loop over it."""

import ast
from dataclasses import replace

from trainera.read.core import Frame
from trainera.read.draws import Draws
from trainera.read.facts import Glance, LoaderFact, Spot
from trainera.read.handmade import gives_structure
from trainera.read.inside import holds_share
from trainera.read.kinds import PLAIN, Bunch, Iter, Kind, Loader, Mapping, Nodes, Shard
from trainera.read.lattice import element, loaders_of

COLLECTORS = {"list", "tuple", "set", "sorted", "map", "filter", "sum", "min", "max", "any", "all"}
"""Builtins that go through all that they are given."""


class Batches(Draws):
    """The part of the analyser that follows them."""

    def next_batch(self, node: ast.Call, batches: Iter | Loader, frame: Frame) -> Kind:
        """The first batch of a loader, taken ahead of all loops, may be looked at long after.

        Then another batch has come, whose slices say nothing of this one's: all take it whole.
        """
        if node in self.decisions.glances:
            self._glances(node, frame)
            return PLAIN
        if not (self.loop_depth or self._glances(node, frame) or self.open_loops):
            self.by_hand |= loaders_of(batches)
        self.outdate(loaders_of(batches), "batch", frame)
        if _asks_twice(node, frame):
            self.trouble(
                "split",
                node,
                frame,
                loaders_of(batches),
                what="two batches of one loader are taken at once",
                why="what a slice weighs is known of the latest batch only",
                do="use the first batch before the next one is taken",
            )
        return element(batches)

    def _glances(self, node: ast.Call, frame: Frame) -> bool:
        """Notes that it is the first batch of a new pass that is asked for."""
        begun = node.args[0]
        if not isinstance(begun, ast.Call) or not begun.args:
            return False
        loader = self.eval(begun.args[0], frame)
        if not isinstance(loader, Loader) or _persists(loader):
            return False
        self.facts.glances[frame.context, node] = Glance(
            loader=begun.args[0], file=frame.file, loaders=loader.origins
        )
        return True

    def eval(self, node: ast.expr, frame: Frame) -> Kind:
        """As ever; but a batch that the script makes itself begins here, and is cut."""
        kind = super().eval(node, frame)
        if node in self.decisions.streams and isinstance(node, ast.Call):
            return self._stream(node, frame)
        if not self.decisions.handmade or holds_share(kind):
            return kind
        loops = [loop for loop in frame.loops if (loop.node, node) in self.decisions.handmade]
        if not loops:
            return kind
        latest = loops[-1]
        if not any(loop is latest for loop in self.open_loops):
            self.open_loops.append(latest)
        self.facts.handmade[node] = Spot(node=node, file=frame.file, what="")
        kind = _rows_of(kind, latest.loaders, gives_structure(node))
        if isinstance(kind, Shard):
            self.facts.shares.add((frame.context, node))
        return kind

    def _stream(self, node: ast.Call, frame: Frame) -> Kind:
        """What gives the script's own batches is as a loader."""
        self.facts.loaders[node] = LoaderFact(
            node=node, file=frame.file, collate=None, ordered=False, own=True
        )
        return PLAIN if node in self.decisions.whole else Loader(frozenset({node}))

    def collected(self, node: ast.Call, loaders: Nodes, frame: Frame) -> None:
        self.trouble(
            "split",
            node,
            frame,
            loaders,
            what="batches of a loader are collected",
            why="each worker would collect its slices of them, which are no batches",
            do="loop over the loader; a single batch is taken by next(iter(loader))",
        )

    def repeats(self, node: ast.Call, loaders: Nodes, frame: Frame) -> None:
        self.trouble(
            "split",
            node,
            frame,
            loaders,
            what="itertools.cycle keeps the batches of the first pass",
            why="what a slice of a batch that comes again weighs is not known any more",
            do="begin a new pass when one ends: while True: for batch in loader: …",
        )


def _asks_twice(node: ast.Call, frame: Frame) -> bool:
    """Whether one statement has several batches of the same iterator."""
    statement = frame.file.statement_of(node)
    if not isinstance(statement, ast.Assign | ast.Expr | ast.Return | ast.AugAssign):
        return False
    calls = [one for one in ast.walk(statement) if isinstance(one, ast.Call)]
    return sum(ast.unparse(one) == ast.unparse(node) for one in calls) > 1


def _rows_of(batch: Kind, loaders: Nodes, nested: bool) -> Kind:
    if isinstance(batch, Bunch):
        return Bunch(tuple(_rows_of(item, loaders, False) for item in batch.items))
    if isinstance(batch, Mapping):
        return replace(
            batch, items=tuple((key, _rows_of(item, loaders, False)) for key, item in batch.items)
        )
    return Shard(loaders, nested=nested, vague=True)


def _persists(loader: Loader) -> bool:
    """Whether its processes outlive a pass, with the seed of the first: a second reader differs."""
    words = [word for node in loader.origins for word in getattr(node, "keywords", ())]
    return any(word.arg == "persistent_workers" for word in words)
