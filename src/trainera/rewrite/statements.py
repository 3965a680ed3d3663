"""How lines are put before and after a statement."""

import ast
from collections.abc import Iterator, Sequence

import libcst as cst

from trainera.plan import Insert
from trainera.rewrite.text import Change
from trainera.rewrite.tree import Statement, Tree, is_future_import, is_string


class Inserting:
    """All that is put before and after one statement."""

    def __init__(
        self,
        tree: Tree,
        statement: cst.BaseSmallStatement | cst.BaseCompoundStatement,
        actions: Sequence[Insert],
        ancestors: Sequence[cst.CSTNode],
    ) -> None:
        self._tree, self._statement = tree, statement
        self._parent = ancestors[-1]
        self._line = tree.line_of(tree.start(statement))
        if isinstance(self._parent, cst.If) and isinstance(statement, cst.If):
            raise ValueError(f"line {self._line}: no line fits before or after an elif")
        before = [action.text for action in actions if action.where == "before"]
        after = [action.text for action in actions if action.where == "after"]
        header = _header(statement, ancestors)
        # Nothing may come before a docstring or a future import.
        stays = bool(header) or _is_docstring_of_one_line(statement, ancestors)
        self._before, self._after = ([], before + after) if stays else (before, after)
        self._header_end = header[-1] if header else None

    def opening(self) -> Iterator[Change]:
        """The lines before the statement."""
        for text in self._before:
            if isinstance(self._parent, cst.SimpleStatementSuite) or (
                isinstance(self._parent, cst.SimpleStatementLine)
                and self._parent.body[0] is not self._statement
            ):
                start = self._tree.start(self._statement)
                yield self._inline(start, text, f"{text}; ")
            else:
                yield self._on_its_own_line(self._tree.above(self._whole()), text)

    def closing(self) -> Iterator[Change]:
        """The lines after the statement."""
        for text in self._after:
            if self._header_end is not None:
                yield self._on_its_own_line(self._tree.below(self._header_end), text)
            elif isinstance(self._parent, cst.SimpleStatementSuite) or (
                isinstance(self._parent, cst.SimpleStatementLine)
                and self._parent.body[-1] is not self._statement
            ):
                end = self._tree.end(self._statement)
                yield self._inline(end, text, f"; {text}")
            else:
                yield self._on_its_own_line(self._tree.below(self._whole()), text)

    def _whole(self) -> Statement:
        if isinstance(self._parent, cst.SimpleStatementLine):
            return self._parent
        assert isinstance(self._statement, cst.BaseCompoundStatement)
        return self._statement

    def _inline(self, offset: int, text: str, joined: str) -> Change:
        if not isinstance(ast.parse(text).body[0], _SIMPLE):
            raise ValueError(
                f"line {self._line}: {text!r} needs a line of its own, but here several statements"
                " share one; put each on its own line"
            )
        return Change(offset, offset, joined, self._line)

    def _on_its_own_line(self, offset: int, text: str) -> Change:
        first = self._tree.first_offset(self._whole())
        blanks = self._tree.indentation(first)
        indented = "\n".join(blanks + line for line in text.split("\n"))
        return own_line(self._tree, offset, indented, self._line)


def own_line(tree: Tree, offset: int, text: str, line: int) -> Change:
    """New lines at the start of a line, or after the last one if that has no end."""
    near = tree.line_of(max(offset - 1, 0))
    end = tree.line_end(near)
    if offset == len(tree.text) and offset and tree.text[-1] not in "\r\n":
        return Change(offset, offset, end + text.replace("\n", end), line)
    return Change(offset, offset, text.replace("\n", end) + end, line)


def _header(
    statement: cst.CSTNode, ancestors: Sequence[cst.CSTNode]
) -> list[cst.SimpleStatementLine]:
    """The lines from this statement on that must stay at the head of their block."""
    line = ancestors[-1]
    if not isinstance(line, cst.SimpleStatementLine):
        return []
    block = ancestors[-2]
    owner = ancestors[-3] if len(ancestors) > 2 else None
    documented = isinstance(owner, cst.FunctionDef | cst.ClassDef) or isinstance(block, cst.Module)
    assert isinstance(block, cst.Module | cst.IndentedBlock)
    header: list[cst.SimpleStatementLine] = []
    for index, other in enumerate(block.body):
        if not isinstance(other, cst.SimpleStatementLine):
            break
        is_docstring = documented and index == 0 and is_string(other.body[0])
        if not is_docstring and not is_future_import(other.body[0]):
            break
        header.append(other)
    for index, other in enumerate(header):
        if other is line and other.body[0] is statement:
            return header[index:]
    return []


def _is_docstring_of_one_line(statement: cst.CSTNode, ancestors: Sequence[cst.CSTNode]) -> bool:
    suite = ancestors[-1]
    return (
        isinstance(suite, cst.SimpleStatementSuite)
        and isinstance(ancestors[-2], cst.FunctionDef | cst.ClassDef)
        and suite.body[0] is statement
        and is_string(statement)
    )


_SIMPLE = (
    ast.Assign
    | ast.AugAssign
    | ast.AnnAssign
    | ast.Expr
    | ast.Return
    | ast.Delete
    | ast.Raise
    | ast.Assert
    | ast.Import
    | ast.ImportFrom
    | ast.Global
    | ast.Nonlocal
    | ast.Pass
    | ast.Break
    | ast.Continue
)
