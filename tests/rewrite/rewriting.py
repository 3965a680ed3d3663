"""Shorthands for tests of the rewriter: edits are named by the source text they are about."""

import ast
from pathlib import Path

from trainera.plan import Action, Converted, Edit, Insert, Keyword, Through, Wrap
from trainera.read.source.positions import Positions
from trainera.rewrite.apply import apply

PATH = Path("train.py")
CREW = "from trainera import crew"


def wrap(template: str) -> Wrap:
    return Wrap(template=template)


def through(function: str = "crew.once") -> Through:
    return Through(function=function)


def before(text: str) -> Insert:
    return Insert(text=text, where="before")


def after(text: str) -> Insert:
    return Insert(text=text, where="after")


def keyword(name: str, value: str) -> Keyword:
    return Keyword(name=name, value=value)


def make_edit(source: bytes, snippet: str, action: Action, *imports: str, nth: int = 0) -> Edit:
    """An edit of the nth node in the source whose text is, or for statements starts with, this."""
    tree = ast.parse(source)
    positions = Positions(source, tree)
    kind = ast.stmt if isinstance(action, Insert) else ast.expr
    text = positions.text
    nodes = [
        node
        for node in ast.walk(tree)
        if isinstance(node, kind)
        and (
            text.startswith(snippet, positions.offsets(node)[0])
            if kind is ast.stmt
            else positions.source(node) == snippet
        )
    ]
    node = sorted(nodes, key=positions.offsets)[nth]
    place = positions.place(node, PATH)
    return Edit(rule="test", place=place, action=action, reason="a test", imports=imports)


def convert(source: str | bytes, *wanted: tuple, standalone: bool = False) -> Converted:
    """Applies (snippet, action, imports…) to a source."""
    data = source if isinstance(source, bytes) else source.encode()
    edits = [make_edit(data, *one) for one in wanted]
    converted = apply(PATH, data, edits, standalone=standalone)
    ast.parse(converted.after)
    return converted


def rewritten(source: str, *wanted: tuple) -> str:
    return convert(source, *wanted).after.decode()
