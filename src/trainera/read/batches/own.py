"""Where batches begin that the script's own code makes."""

import ast
from dataclasses import replace

from trainera.read.batches.handmade import gives_structure
from trainera.read.facts import LoaderFact
from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.values import PLAIN, Answer, Dictionary, Items, Loader, Nodes, Shard, Value
from trainera.read.values.contents import holds_share


class OwnBatches(Library):
    """Where batches begin that the script's own code makes."""

    def evaluated(self, node: ast.expr, value: Value, frame: Frame) -> Value:
        """Gives the value on; a batch that the script makes itself begins here, and is cut."""
        if node in self.program.decisions.streams and isinstance(node, ast.Call):
            return self._stream(node, frame)
        if not self.program.decisions.handmade or holds_share(value):
            return value
        loops = [
            loop for loop in frame.loops if (loop.node, node) in self.program.decisions.handmade
        ]
        if not loops:
            return value
        latest = loops[-1]
        if not any(loop is latest for loop in self.path.open_loops):
            self.path.open_loops.append(latest)
        self.notes.handmade.mark(node, frame, "")
        value = _rows_of(value, latest.loaders, gives_structure(node))
        if isinstance(value, Shard):
            self.notes.shares.add(node, frame)
        return value

    def _stream(self, node: ast.Call, frame: Frame) -> Value:
        """What gives the script's own batches is as a loader."""
        self.notes.loaders.set(
            node,
            frame,
            LoaderFact(node=node, file=frame.file, collate=None, ordered=False, own=True),
        )
        return PLAIN if node in self.program.decisions.whole else Loader(frozenset({node}))


def _rows_of(batch: Value, loaders: Nodes, nested: bool) -> Value:
    if isinstance(batch, Items):
        return Items(tuple(_rows_of(item, loaders, False) for item in batch.items))
    if isinstance(batch, Dictionary):
        return replace(
            batch, items=tuple((key, _rows_of(item, loaders, False)) for key, item in batch.items)
        )
    return Shard(loaders, nested=nested, listed=Answer.MAYBE)
