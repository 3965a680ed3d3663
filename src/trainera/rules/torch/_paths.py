"""Paths of gradients: sets of names, and how they come together."""

import ast

Path = frozenset[str]
Paths = frozenset[Path]
NOTHING: Paths = frozenset({frozenset()})
MAX_PATHS = 200
SOME = "?"
"""After a name: something of it is used, perhaps not all."""


class Unclear(Exception):
    """Which gradients there are cannot be told."""


def both(*sides: Paths) -> Paths:
    """What all of these together are computed from."""
    made = NOTHING
    for side in sides:
        made = frozenset(one | other for one in made for other in side)
        if len(made) > MAX_PATHS:
            raise Unclear
    return made


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def suffixes(name: str, path: Path) -> list[str]:
    """How a name is used on a path: as it is, by an item or an attribute, or in some way."""
    return [
        rest
        for used in path
        if used.startswith(name) and ((rest := used[len(name) :]) == "" or rest[0] in "[.?")
    ]


def without(name: str, path: Path) -> Path:
    return path - {name + rest for rest in suffixes(name, path)}
