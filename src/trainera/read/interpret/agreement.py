"""Values that workers have of their own, where all must go on with the same."""

import ast
from collections.abc import Sequence

from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.values import BatchIterable, FirstOnly, LibraryObject, Loader, PerWorker, Value
from trainera.read.values.join import loaders_of

ALONE = "only the first worker has it"


class Agreement(Part):
    """Values that workers have of their own, where all must go on with the same."""

    def agreed(self, node: ast.expr, value: Value, frame: Frame) -> None:
        drawn = value.origin if isinstance(value, LibraryObject) else getattr(value, "made", None)
        if drawn is node:
            return  # if all had to agree on it, that was seen where it was made
        self.notes.agree.drop(node, frame)
        if isinstance(value, PerWorker) and frame.policy.arranges_side_effects:
            self.notes.agree.mark(node, frame, value.what)
            self.path.together()

    def needed_by_all(self, node: ast.AST, values: Sequence[Value], frame: Frame) -> None:
        """Every worker computes with these: none may be the first worker's alone."""
        if any(isinstance(value, FirstOnly) for value in values):
            self.notes.trouble("once", "first-worker-only", node, frame, frozenset())

    def handed_over(self, node: ast.AST, values: list[Value], frame: Frame) -> None:
        """A loader is given to a library, which will read it in a way that cannot be seen."""
        for value in values:
            if isinstance(value, Loader | BatchIterable):
                loaders = loaders_of(value)
                self.notes.trouble("split", "loader-given-away", node, frame, loaders)
