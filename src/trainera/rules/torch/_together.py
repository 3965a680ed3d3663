"""Figures that stand side by side, as arguments or items, and travel in one exchange."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from trainera.plan import Enclose
from trainera.read.facts import Escape
from trainera.read.source.file import SourceFile

FIGURES = ("mean", "sum")
ALONE = ast.Starred | ast.GeneratorExp | ast.NamedExpr | ast.Lambda | ast.Yield | ast.YieldFrom
"""What cannot be one of several arguments without parentheses, or is evaluated elsewhere."""


@dataclass(frozen=True)
class Together:
    """Neighbours that are made whole by one call, and whether it stands for all of a tuple."""

    figures: list[Escape]
    is_tuple: bool

    def edits(self) -> Iterator[tuple[ast.expr, Enclose]]:
        """What is put before the first of them and after the last one; nothing in between."""
        first, last = self.figures[0], self.figures[-1]
        ways = [one.method for one in self.figures]
        star = "" if self.is_tuple else "*"
        if len(set(ways)) == 1:
            head, tail = f"{star}{first.text}.{first.method}(", ")"
        else:
            head, tail = f"{star}{first.text}.combine((", f"), {tuple(ways)!r})"
        for one in self.figures:
            yield (
                one.node,
                Enclose(head=head if one is first else "", tail=tail if one is last else ""),
            )


def side_by_side(found: dict[ast.AST, Escape]) -> Iterator[Together]:
    """The figures that have neighbours of the same batch."""
    figures = {node: one for node, one in found.items() if one.method in FIGURES and not one.how}
    lists: dict[ast.AST, SourceFile] = {}
    for node, one in figures.items():
        above = one.file.parents[node]
        if isinstance(above, ast.Call | ast.Tuple | ast.List):
            lists[above] = one.file
    for above, file in lists.items():
        items = above.args if isinstance(above, ast.Call) else getattr(above, "elts", [])
        if isinstance(file.parents.get(above), ast.Subscript):
            continue  # no stars in an index
        run: list[Escape] = []
        for item in [*items, None]:
            figure = None if item is None or isinstance(item, ALONE) else figures.get(item)
            if figure is None or not _alike(figure, run):
                yield from _made(run, above, items, file)
                run = []
            if figure is not None:
                run = [*run, figure]


def _alike(one: Escape, run: list[Escape]) -> bool:
    """Whether it may travel with those before it."""
    if not run:
        return True
    same = all(other.method == one.method for other in run)
    return one.text == run[0].text and (same or one.text != "crew")


def _made(
    run: list[Escape], above: ast.AST, items: list[ast.expr], file: SourceFile
) -> Iterator[Together]:
    if len(run) < 2:
        return
    mixed = len({one.method for one in run}) > 1
    if mixed and _is_in_text(above, file):
        return  # quotes within quotes
    if isinstance(above, ast.Tuple) and len(run) == len(items):
        text = file.positions.text
        rest = text[file.positions.offsets(items[-1])[1] : file.positions.offsets(above)[1]]
        if "," in rest or "#" in rest:
            return
        yield Together(run, is_tuple=True)
        return
    yield Together(run, is_tuple=False)


def _is_in_text(node: ast.AST, file: SourceFile) -> bool:
    current: ast.AST | None = node
    while current is not None and not isinstance(current, ast.stmt):
        if isinstance(current, ast.JoinedStr):
            return True
        current = file.parents.get(current)
    return False
