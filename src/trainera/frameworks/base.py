"""What a framework tells the planner: how a script trains, and what its rules find."""

from typing import Protocol

from trainera.engines.base import Engine
from trainera.plan import Edit, Note, Options, Refusal
from trainera.read.source.file import SourceFile

Files = dict[str, SourceFile]
Finding = Edit | Refusal | Note


class Framework(Protocol):
    """The knowledge of one framework."""

    wanted: str
    """What to give where a script does not train."""

    def uses(self, files: Files) -> bool:
        """Whether a script is written for it."""

    def backend(self, files: Files) -> str:
        """What a script has it compute with; empty where it leaves that open."""

    def default_engine(self, files: Files) -> str:
        """What a script is converted for unless the user says."""

    def refused(self, files: Files) -> Refusal | None:
        """Why a script is not to be read at all."""

    def trains(self, file: SourceFile) -> bool:
        """Whether a file trains a network."""

    def findings(self, files: Files, engine: Engine, options: Options) -> list[Finding]:
        """What every rule wants to change, what it refuses, and what a user should know."""

    def depth(self, edit: Edit) -> int:
        """Of several edits at one place, the lower comes first and is the inner one."""
