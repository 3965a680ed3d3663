"""Values that workers have of their own, where all must go on with the same."""

import ast
from collections.abc import Sequence

from trainera.read.facts import Spot
from trainera.read.interpret.part import MachinePart
from trainera.read.interpret.state import Frame
from trainera.read.source.picking import Picking, called, picks_text, whole_of
from trainera.read.values import (
    PLAIN,
    BatchIterable,
    FirstOnly,
    LibraryObject,
    Loader,
    PerWorker,
    Value,
)
from trainera.read.values.join import loaders_of

ALONE = "only the first worker has it"


class Agreement(MachinePart):
    """Values that workers have of their own, where all must go on with the same."""

    def agreed(self, node: ast.expr, value: Value, frame: Frame) -> None:
        drawn = value.origin if isinstance(value, LibraryObject) else getattr(value, "made", None)
        if drawn is node:
            return  # if all had to agree on it, that was seen where it was made
        self.notes.agree.drop(node, frame)
        if called(node) == "scandir":
            return  # entries of a directory cannot be sent
        if isinstance(value, PerWorker) and frame.policy.arranges_side_effects:
            self.notes.agree.mark(node, frame, value.what)
            self.path.needs_all_workers()

    def on_picked(
        self,
        node: Picking,
        items: Sequence[tuple[ast.expr, Value]],
        tests: Sequence[tuple[ast.expr, Value]],
        frame: Frame,
        *,
        of_batches: bool,
    ) -> bool:
        """Items are picked by tests on which workers may differ: whether they agree on all at once.

        That is one exchange instead of one an item; and workers that are given other items, as by
        a directory that changes, do not wait for each other. What is no text is not sent around.
        """
        asked = [test for test, _ in tests]
        first, at = node.generators[0], whole_of(node, frame.file)
        at_once = bool(tests) and not of_batches and picks_text(node, asked, at)
        at_once &= not any("random" in getattr(value, "what", "") for _, value in tests)
        for one, value in (*(items if tests else ()), *tests):
            self.agreed(one, PLAIN if at_once else value, frame)
        self.notes.agree.drop(first, frame)
        if at_once:
            self.on_all(first, at, tests[0][1], frame)
        return at_once

    def on_all(self, key: ast.AST, at: ast.expr, value: Value, frame: Frame) -> None:
        """All workers go on with what the first one has there."""
        if isinstance(value, PerWorker) and frame.policy.arranges_side_effects:
            self.notes.agree.set(key, frame, Spot(node=at, file=frame.file, what=value.what))
            self.path.needs_all_workers()

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
