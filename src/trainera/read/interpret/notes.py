"""What is found on the way: everything that goes into `Facts` goes by here."""

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from trainera.read.facts import Facts, Spot, Trouble
from trainera.read.interpret.state import Frame, Path
from trainera.read.source.file import SourceFile
from trainera.read.values import Nodes


@dataclass
class Trial:
    """A look at some code that may have started from too little."""

    holds: bool = False


class Notes:
    """The findings of a reading."""

    def __init__(self, files: dict[str, SourceFile], path: Path) -> None:
        self.files = files
        self.path = path
        self.facts = Facts(files=files)

    def begin_reading(self) -> None:
        self.facts = Facts(files=self.files)

    @contextmanager
    def on_trial(self) -> Iterator[Trial]:
        """What is found out inside is forgotten, unless it turns out that it holds.

        What values are is remembered.
        """
        facts, open_loops = self.facts, self.path.open_loops
        loops = [(loop, loop.training, loop.collective) for loop in open_loops]
        backwards = [(loop, set(loop.backwards)) for loop in open_loops]
        self.facts = facts.copy()
        trial = Trial()
        yield trial
        if not trial.holds:
            self.facts = facts
            for loop, training, collective in loops:
                loop.training, loop.collective = training, collective
            for loop, steps in backwards:
                loop.backwards.clear()
                loop.backwards.update(steps)

    def spot(self, node: ast.expr, frame: Frame, what: str) -> Spot:
        return Spot(node=node, file=frame.file, what=what)

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
