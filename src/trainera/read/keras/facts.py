"""What is found in a Keras script; plain data."""

import ast
from dataclasses import dataclass

from trainera.read.source.file import SourceFile


@dataclass(frozen=True)
class Spot:
    """A place in one of the files."""

    file: SourceFile
    node: ast.AST


@dataclass(frozen=True, kw_only=True)
class KerasFacts:
    """All that the rules want to know."""

    files: dict[str, SourceFile]
    backend: Spot | None
    """Where the script chooses its backend."""
    backend_name: str
    """The backend that it chooses; empty if it leaves that to the environment."""
    chooses_backend: bool
    """Whether the script itself chooses among backends, which only Keras 3 has."""
    first_import: ast.stmt | None
    """The statement at the top of the script that first imports Keras."""
    keras_name: str | None
    """The name under which the script has Keras itself, from its top on."""
    tensorflow_name: str | None
    """The same for TensorFlow."""
    trainings: tuple[Spot, ...]
    """Calls that have Keras train: its trainer deals out the batches."""
    batches: tuple[Spot, ...]
    """Arguments by which a loop of the script's own gives batches to functions that JAX compiles or
    differentiates."""
    tapes: tuple[Spot, ...]
    """Where TensorFlow records a computation for its gradients."""

    @property
    def script(self) -> SourceFile:
        return self.files["__main__"]
