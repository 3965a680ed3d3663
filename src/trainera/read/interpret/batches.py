"""Batches that are taken from a loader in other ways than by a loop over it."""

import ast

from trainera.read.facts import FirstBatch
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.syntax import parts_of
from trainera.read.values import PLAIN, BatchIterable, Loader, Nodes, Value
from trainera.read.values.join import element, loaders_of


class Batches(MachinePart):
    """Batches that are taken from a loader in other ways than by a loop over it."""

    def next_batch(self, node: ast.Call, batches: BatchIterable | Loader, frame: Frame) -> Value:
        """The first batch of a loader, taken ahead of all loops, may be looked at long after.

        Then another batch has come, whose slices say nothing of this one's: all take it whole.
        """
        if node in self.program.decisions.first_batches:
            self._is_first(node, frame)
            return PLAIN
        if not (self.path.loop_depth or self._is_first(node, frame) or self.path.open_loops):
            self.program.by_hand |= loaders_of(batches)
        self.machine.outliving.outdate(loaders_of(batches), "batch", frame)
        if _asks_twice(node, frame):
            self.notes.trouble("split", "two-batches", node, frame, loaders_of(batches))
        return element(batches)

    def _is_first(self, node: ast.Call, frame: Frame) -> bool:
        """Notes that it is the first batch of a new pass that is asked for."""
        begun = node.args[0]
        if not isinstance(begun, ast.Call) or not begun.args:
            return False
        loader = self.machine.eval(begun.args[0], frame)
        if not isinstance(loader, Loader) or _persists(loader):
            return False
        self.notes.first_batches.set(
            node, frame, FirstBatch(loader=begun.args[0], file=frame.file, loaders=loader.origins)
        )
        return True

    def collected(self, node: ast.Call, loaders: Nodes, frame: Frame) -> None:
        self.notes.trouble("split", "collected", node, frame, loaders)

    def repeats(self, node: ast.Call, loaders: Nodes, frame: Frame) -> None:
        self.notes.trouble("split", "cycle", node, frame, loaders)


def _asks_twice(node: ast.Call, frame: Frame) -> bool:
    """Whether one statement has several batches of the same iterator."""
    statement = frame.file.statement_of(node)
    if not isinstance(statement, ast.Assign | ast.Expr | ast.Return | ast.AugAssign):
        return False
    calls = [one for one in parts_of(statement) if isinstance(one, ast.Call)]
    return sum(ast.unparse(one) == ast.unparse(node) for one in calls) > 1


def _persists(loader: Loader) -> bool:
    """Whether its processes outlive a pass, with the seed of the first: a second reader differs."""
    words = [word for node in loader.origins for word in getattr(node, "keywords", ())]
    return any(word.arg == "persistent_workers" for word in words)
