"""Training loops that a script has of its own."""

import ast
from collections.abc import Iterator

from trainera.read.keras.facts import KerasFacts, Spot


def own_steps(facts: KerasFacts) -> Iterator[Spot]:
    """Steps that do not pass through `fit`."""
    for spot in facts.trainings:
        if isinstance(spot.node, ast.Call) and isinstance(spot.node.func, ast.Attribute):
            if spot.node.func.attr == "train_on_batch":
                yield spot
    for spot in facts.tapes:
        if not any(name == "train_step" for name in _around(spot)):
            yield spot


def _around(spot: Spot) -> Iterator[str]:
    """The names of the functions that a place is in."""
    node: ast.AST | None = spot.node
    while node is not None:
        if isinstance(node, ast.FunctionDef):
            yield node.name
        node = spot.file.parents.get(node)
