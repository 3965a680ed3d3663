"""Batches that are taken from a loader in other ways than by a loop over it."""

import ast

from trainera.read.core import Frame
from trainera.read.draws import Draws
from trainera.read.facts import Glance
from trainera.read.kinds import PLAIN, Iter, Kind, Loader, Nodes
from trainera.read.lattice import element

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
            self.by_hand |= batches.origins if isinstance(batches, Loader) else batches.loaders
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


def _persists(loader: Loader) -> bool:
    """Whether its processes outlive a pass, with the seed of the first: a second reader differs."""
    words = [word for node in loader.origins for word in getattr(node, "keywords", ())]
    return any(word.arg == "persistent_workers" for word in words)
