"""What a framework tells the planner: how a script trains, what to decide, which rules to ask."""

import ast
from typing import Protocol

from trainera.engines.base import Engine
from trainera.plan import Edit, Note, Options, Refusal
from trainera.read.facts import Decisions, Facts
from trainera.read.source.file import SourceFile

Files = dict[str, SourceFile]


class Framework(Protocol):
    """The knowledge of one framework."""

    def refused(self, files: Files) -> Refusal | None:
        """Why a script is not to be read at all."""

    def trains(self, file: SourceFile) -> bool:
        """Whether a file computes gradients."""

    def read(self, files: Files, decisions: Decisions) -> tuple[Facts, frozenset[ast.AST]]:
        """What is found in a script, and which calls turned out to make networks."""

    def decide(
        self, files: Files, facts: Facts, promoted: frozenset[ast.AST], before: Decisions
    ) -> Decisions:
        """What is to be taken for granted when the script is read again."""

    def ask(self, facts: Facts, engine: Engine, options: Options) -> list[Edit | Refusal | Note]:
        """What every rule wants to change, what it refuses, and what a user should know."""

    def depth(self, edit: Edit) -> int:
        """Of several edits at one place, the lower comes first and is the inner one."""
