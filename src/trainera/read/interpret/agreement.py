"""Values that workers have of their own, where all must go on with the same."""

import ast
from collections.abc import Sequence

from trainera.read.facts import Spot
from trainera.read.interpret.part import Part
from trainera.read.interpret.state import Frame
from trainera.read.values import BatchIterable, FirstOnly, LibraryObject, Loader, PerWorker, Value
from trainera.read.values.join import loaders_of

ALONE = "only the first worker has it"


class Agreement(Part):
    """Values that workers have of their own, where all must go on with the same."""

    def agreed(self, node: ast.expr, value: Value, frame: Frame) -> None:
        key = (frame.context, node)
        drawn = value.origin if isinstance(value, LibraryObject) else getattr(value, "made", None)
        if drawn is node:
            return  # if all had to agree on it, that was seen where it was made
        self.notes.facts.agree.pop(key, None)
        if isinstance(value, PerWorker) and not frame.lenient:
            self.notes.facts.agree[key] = Spot(node=node, file=frame.file, what=value.what)
            self.path.together()

    def needed_by_all(self, node: ast.AST, values: Sequence[Value], frame: Frame) -> None:
        """Every worker computes with these: none may be the first worker's alone."""
        if any(isinstance(value, FirstOnly) for value in values):
            self.notes.trouble(
                "once",
                node,
                frame,
                frozenset(),
                what="all workers need a value that only the first one has",
                why="it comes from a file or a service that only the first worker writes to",
                do="take the value from where the script has it itself, or read it from a file "
                'opened with mode "r"',
            )

    def handed_over(self, node: ast.AST, values: list[Value], frame: Frame) -> None:
        """A loader is given to a library, which will read it in a way that cannot be seen."""
        for value in values:
            if isinstance(value, Loader | BatchIterable):
                loaders = loaders_of(value)
                self.notes.trouble(
                    "split",
                    node,
                    frame,
                    loaders,
                    what="a library is given the loader",
                    why="what it does with the batches cannot be seen",
                    do="loop over the loader in the script itself",
                )
