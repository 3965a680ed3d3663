"""What the rules for PyTorch share, besides what all rules do."""

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from trainera.plan import Refusal
from trainera.read.facts import Facts, Spot, Trouble
from trainera.read.source.file import SourceFile
from trainera.rules.common._tools import (
    Finding,
    after,
    around,
    before,
    edit,
    named,
    own_line_target,
    rebinding,
    refuse,
    wrap,
)


def cannot_grow(file: SourceFile, node: ast.AST) -> Refusal:
    """For `--batch per-worker`."""
    what = "the script makes its batches itself: they cannot be made larger"
    why = "how many rows a batch has is written in the script"
    do = "leave out --batch per-worker, and change the batch size in the script"
    return refuse("handmade", file, node, what, why, do)


@dataclass(frozen=True, kw_only=True)
class Words:
    """What a refusal says. Names in braces are given by what was found."""

    what: str
    why: str
    do: str


def refusal_of(trouble: Trouble, words: Words) -> Refusal:
    """What the reading ran into, in the words of its rule."""
    what, why, do = (
        text.format(**dict(trouble.details)) for text in (words.what, words.why, words.do)
    )
    return refuse(trouble.rule, trouble.file, trouble.node, what, why, do)


def spots(records: Iterable[Spot]) -> dict[ast.AST, list[Spot]]:
    """Spots by node: a function that is called in several ways has its edits once."""
    found: dict[ast.AST, list[Spot]] = {}
    for spot in records:
        found.setdefault(spot.node, []).append(spot)
    return found


__all__ = [
    "Facts",
    "Finding",
    "after",
    "around",
    "before",
    "edit",
    "named",
    "own_line_target",
    "rebinding",
    "refuse",
    "wrap",
]
