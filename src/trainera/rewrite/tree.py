"""The concrete syntax tree of a file, with its nodes' offsets in the file's own text."""

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import cast

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider
from libcst.metadata.position_provider import PositionProvidingCodegenState

from trainera.read.source.place import Place
from trainera.read.source.positions import Span, line_offsets

_LEADING_FORM_FEED = re.compile(r"[ \t]*\f[ \t\f]*(?<=\f)")
_LINE_END = re.compile(r"\r\n|\r|\n")

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


class _Written(PositionProvider):
    """A module written once, for its text and for where each node stands.

    A `MetadataWrapper` goes through the whole tree twice more for that, which takes as long as
    parsing the file and planning its edits.
    """

    def positions(self, module: cst.Module) -> Mapping[cst.CSTNode, CodeRange]:
        self._gen_impl(module)
        return cast(Mapping[cst.CSTNode, CodeRange], self._computed)

    def _gen_impl(self, module: cst.Module) -> None:
        state = PositionProvidingCodegenState(
            default_indent=module.default_indent,
            default_newline=module.default_newline,
            provider=self,
        )
        module._codegen(state)
        self.text = "".join(state.tokens)


class Tree:
    """A parsed file. All offsets count characters of `text`."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = line_offsets(text)
        # libcst loses form feeds before a statement and takes a lone carriage return for a
        # blank; it is shown the file without them, and what that shifts is added again.
        self._shifts: dict[int, int] = {}
        shown = self._without_form_feeds(re.sub(r"\r(?!\n)", "\n", text))
        self.module = cst.parse_module(shown)
        written = _Written()
        self._positions = written.positions(self.module)
        assert written.text == shown, "this file does not survive being parsed and written"

    def _without_form_feeds(self, text: str) -> str:
        if "\f" not in text:
            return text
        pieces = []
        bounds = [*self._lines, len(text)]
        for number, (start, end) in enumerate(pairwise(bounds), start=1):
            line = text[start:end]
            leading = _LEADING_FORM_FEED.match(line)
            if leading:
                self._shifts[number] = leading.end()
                line = line[leading.end() :]
            pieces.append(line)
        return "".join(pieces)

    def start(self, node: cst.CSTNode) -> int:
        """Where the node starts, without its parentheses and decorators."""
        position = self._positions[node].start
        return self._offset(position.line, position.column + self._shifts.get(position.line, 0))

    def end(self, node: cst.CSTNode) -> int:
        """Where the node ends, without its parentheses."""
        position = self._positions[node].end
        # What ends at column 0 ends with the line before, ahead of any form feed.
        shift = self._shifts.get(position.line, 0) if position.column else 0
        return self._offset(position.line, position.column + shift)

    def _offset(self, line: int, column: int) -> int:
        if line > len(self._lines):  # libcst reckons with a newline at the end of the file
            return len(self.text)
        return min(self._lines[line - 1] + column, len(self.text))

    def offsets(self, place: Place) -> Span:
        """Start and end of a place."""
        return (
            self._lines[place.line - 1] + place.column,
            self._lines[place.end_line - 1] + place.end_column,
        )

    def span(self, node: cst.CSTNode) -> Span:
        """Start and end of a node, without its parentheses."""
        return self.start(node), self.end(node)

    def outer_span(self, node: cst.BaseExpression) -> Span:
        """Start and end of an expression with all parentheses around it."""
        if node.lpar:
            return self.start(node.lpar[0]), self.end(node.rpar[-1])
        return self.span(node)

    def paren_span(self, node: cst.BaseExpression) -> Span:
        """Start and end of an expression with the innermost parentheses around it."""
        if node.lpar:
            return self.start(node.lpar[-1]), self.end(node.rpar[0])
        return self.span(node)

    def line_of(self, offset: int) -> int:
        """The number of the line that an offset is in."""
        low, high = 0, len(self._lines)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._lines[middle] <= offset else (low, middle)
        return low + 1

    def line_start(self, offset: int) -> int:
        """Where the line of an offset starts."""
        return self._lines[self.line_of(offset) - 1]

    def line_end(self, line: int) -> str:
        """The characters that end a line; where there are none, those of the line before."""
        for number in range(min(line, len(self._lines) - 1), 0, -1):
            start = self._lines[number - 1]
            found = _LINE_END.search(self.text, start)
            if found:
                return found.group()
        return "\n"

    def first_offset(self, statement: cst.CSTNode) -> int:
        """Where a statement starts, with its decorators."""
        if isinstance(statement, cst.FunctionDef | cst.ClassDef) and statement.decorators:
            return self.start(statement.decorators[0])
        return self.start(statement)

    def above(self, statement: Statement) -> int:
        """Where the first line of a statement starts, or of the comment right above it."""
        offset = self.line_start(self.first_offset(statement))
        for line in reversed(statement.leading_lines):
            if line.comment is None or not line.indent or line.whitespace.value:
                break
            offset = self.line_start(self.start(line))
        # A comment at the head of the file may be its interpreter or its encoding.
        if self.line_of(offset) <= 2:
            return self.line_start(self.first_offset(statement))
        return offset

    def below(self, statement: cst.CSTNode) -> int:
        """Where the line after a statement starts; comments in its last block are part of it."""
        if isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            return self.end(statement.trailing_whitespace)
        if isinstance(statement, cst.IndentedBlock):
            offset = self.below(statement.body[-1])
            for line in statement.footer:
                if line.comment is not None:
                    offset = self.end(line)
            return offset
        return self.below(_last_part(statement))

    def indentation(self, offset: int) -> str:
        """The blanks before the statement that starts at an offset."""
        return self.text[self.line_start(offset) : offset].rpartition("\f")[2]


def _last_part(statement: cst.CSTNode) -> cst.CSTNode:
    parts = (
        cst.BaseSuite,
        cst.If,
        cst.Else,
        cst.Finally,
        cst.ExceptHandler,
        cst.ExceptStarHandler,
        cst.MatchCase,
    )
    return [child for child in statement.children if isinstance(child, parts)][-1]


def is_string(statement: cst.CSTNode) -> bool:
    """Whether a statement is nothing but a string, as a docstring is."""
    return isinstance(statement, cst.Expr) and isinstance(
        statement.value, cst.SimpleString | cst.ConcatenatedString
    )


def is_future_import(statement: cst.CSTNode) -> bool:
    """Whether a statement is ``from __future__ import …``."""
    return (
        isinstance(statement, cst.ImportFrom)
        and isinstance(statement.module, cst.Name)
        and statement.module.value == "__future__"
    )


def small_statements(statement: cst.CSTNode) -> Iterator[cst.BaseSmallStatement]:
    """The statements of one line; none if it is a compound statement."""
    if isinstance(statement, cst.SimpleStatementLine):
        yield from statement.body
