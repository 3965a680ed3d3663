"""Where a node of the syntax tree stands in its file, in lines and *characters*.

`ast` counts columns in UTF-8 bytes, and before Python 3.12 it guesses the positions of what stands
inside an f-string (it compiles each replacement field on its own and looks the text up again, which
goes wrong for repeated text, several lines and joined literals). Edits need the true place, so the
fields are found here by reading the literal as the compiler of those versions does.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trainera.read.source.place import Place

_LINE_END = re.compile(r"\r\n|\r|\n")
_BETWEEN_LITERALS = re.compile(r"(?:[ \t\f\r\n]|\\(?:\r\n|\r|\n)|#[^\r\n]*)*")
_LITERAL_OPENING = re.compile(r"([A-Za-z]*)(\"\"\"|'''|\"|')")
_FIELDS_ARE_GUESSED = sys.version_info < (3, 12)

Span = tuple[int, int]
"""Start and end of a piece of text, as offsets in characters."""


def decode(source: bytes) -> str:
    """The text of a Python file as its coding cookie says, without a byte order mark."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return source.decode(encoding)


def line_offsets(text: str) -> list[int]:
    """The offset of each line's first character; lines end as they do for Python's tokenizer."""
    return [0, *(match.end() for match in _LINE_END.finditer(text))]


class Positions:
    """True places of the nodes of one parsed file."""

    def __init__(self, source: bytes, tree: ast.AST) -> None:
        """`tree` must come from `ast.parse(source)`; it is kept, and never changed."""
        self.text = decode(source)
        self._tree = tree
        self._lines = _Lines(self.text)
        self._in_fields: dict[ast.AST, Span] = {}
        if _FIELDS_ARE_GUESSED:
            _locate_fields(tree, self._lines, 0, self.text, self._in_fields)

    def span(self, node: ast.AST) -> tuple[int, int, int, int]:
        """Line, column, end line and end column of a node; columns count characters from 0."""
        start, end = self.offsets(node)
        return (*self._lines.position(start), *self._lines.position(end))

    def offsets(self, node: ast.AST) -> Span:
        """Where the node starts and ends in `text`."""
        known = self._in_fields.get(node)
        return known if known is not None else self._lines.offsets(node)

    def source(self, node: ast.AST) -> str:
        """The node as it is written in the file."""
        start, end = self.offsets(node)
        return self.text[start:end]

    def place(self, node: ast.AST, path: Path) -> Place:
        """The node's place, ready for an edit or a message."""
        line, column, end_line, end_column = self.span(node)
        return Place(path=path, line=line, column=column, end_line=end_line, end_column=end_column)


class _Lines:
    """Converts between offsets in a text and the lines and byte columns of its syntax tree."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = line_offsets(text)

    def offsets(self, node: ast.AST) -> Span:
        lines = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if lines[0] is None or lines[1] is None:
            raise ValueError(f"{type(node).__name__} has no position of its own")
        return (
            self._offset(lines[0], node.col_offset),  # type: ignore[attr-defined]
            self._offset(lines[1], node.end_col_offset),  # type: ignore[attr-defined]
        )

    def _offset(self, line: int, byte_column: int) -> int:
        start = self._starts[line - 1]
        head = self._text[start : start + byte_column]
        if head.isascii():
            return start + byte_column
        return start + len(head.encode()[:byte_column].decode(errors="ignore"))

    def position(self, offset: int) -> tuple[int, int]:
        low, high = 0, len(self._starts)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._starts[middle] <= offset else (low, middle)
        return low + 1, offset - self._starts[low]


@dataclass(frozen=True)
class _Field:
    """A replacement field of an f-string: ``{expression!r:spec}``."""

    span: Span
    """With the braces."""
    expression: Span
    spec: Span | None
    nested: tuple["_Field", ...]
    """The fields inside the format specification."""


def _locate_fields(
    tree: ast.AST, lines: _Lines, base: int, text: str, found: dict[ast.AST, Span]
) -> None:
    """Finds the places of all nodes inside the f-strings of a tree parsed from `text`.

    `base` is the offset of `text` in the file.
    """
    for literal in _outermost_f_strings(tree):
        start, end = lines.offsets(literal)
        _assign(literal, _fields_of_literals(text, start, end), base, text, found)


def _outermost_f_strings(tree: ast.AST) -> Iterator[ast.JoinedStr]:
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):
            yield node
        else:
            waiting.extend(ast.iter_child_nodes(node))


def _assign(
    literal: ast.JoinedStr,
    fields: list[_Field],
    base: int,
    text: str,
    found: dict[ast.AST, Span],
) -> None:
    values = [value for value in literal.values if isinstance(value, ast.FormattedValue)]
    assert len(values) == len(fields), f"f-string with {len(values)} fields, {len(fields)} seen"
    for value, field in zip(values, fields, strict=True):
        found[value] = (base + field.span[0], base + field.span[1])
        start, end = field.expression
        # The compiler of these versions parses a field in parentheses of its own; so do we, and
        # get the same nodes in the same order, at offsets that we know.
        piece = f"({text[start:end]})"
        tree = ast.parse(piece, mode="eval").body
        lines, inside = _Lines(piece), base + start - 1
        deeper: dict[ast.AST, Span] = {}
        _locate_fields(tree, lines, inside, piece, deeper)
        for same, node in zip(ast.walk(tree), ast.walk(value.value), strict=True):
            assert type(same) is type(node)
            if same in deeper:
                found[node] = deeper[same]
            elif hasattr(same, "lineno"):
                first, last = lines.offsets(same)
                if first == 0:  # the parentheses are ours: f"{a, b}"
                    bare = piece[1:-1]
                    first = 1 + len(bare) - len(bare.lstrip())
                    last = 1 + len(bare.rstrip())
                found[node] = (inside + first, inside + last)
        if isinstance(value.format_spec, ast.JoinedStr) and field.spec is not None:
            found[value.format_spec] = (base + field.spec[0], base + field.spec[1])
            _assign(value.format_spec, list(field.nested), base, text, found)


def _fields_of_literals(text: str, start: int, end: int) -> list[_Field]:
    """The fields of all literals that stand side by side in the span and form one f-string."""
    fields: list[_Field] = []
    while True:
        gap = _BETWEEN_LITERALS.match(text, start, end)
        start = gap.end() if gap else start
        opening = _LITERAL_OPENING.match(text, start, end)
        if opening is None:
            return fields
        prefix, quote = opening.group(1).lower(), opening.group(2)
        body = opening.end()
        close = body
        while not text.startswith(quote, close):
            close += 2 if text[close] == "\\" else 1
        if "f" in prefix:
            reader = _FieldReader(text, body, close, raw="r" in prefix)
            fields.extend(reader.fields(nested=False))
        start = close + len(quote)


class _FieldReader:
    """Reads the body of one f-string literal by the rules that held before Python 3.12."""

    def __init__(self, text: str, start: int, end: int, *, raw: bool) -> None:
        self._text, self._at, self._end, self._raw = text, start, end, raw

    def fields(self, *, nested: bool) -> list[_Field]:
        """The fields up to the end, or in a format specification up to its closing brace."""
        found = []
        while self._at < self._end:
            character = self._text[self._at]
            if character == "\\" and not self._raw:
                self._at += 1
                if self._text.startswith("N{", self._at):
                    self._at = self._text.index("}", self._at) + 1
                elif self._text[self._at] not in "{}":
                    self._at += 1
            elif character == "}" and nested:
                break
            elif character in "{}" and not nested and self._text[self._at + 1] == character:
                self._at += 2
            elif character == "{":
                found.append(self._field())
            else:
                self._at += 1
        return found

    def _field(self) -> _Field:
        opening = self._at
        self._at += 1
        start = self._at
        self._skip_expression()
        expression = (start, self._at)
        if self._text[self._at] == "=":
            self._at += 1
            while self._text[self._at].isspace():
                self._at += 1
        if self._text[self._at] == "!":
            self._at += 2
            while self._text[self._at].isspace():
                self._at += 1
        spec: Span | None = None
        nested: list[_Field] = []
        if self._text[self._at] == ":":
            self._at += 1
            spec_start = self._at
            nested = self.fields(nested=True)
            spec = (spec_start, self._at)
        assert self._text[self._at] == "}"
        self._at += 1
        return _Field((opening, self._at), expression, spec, tuple(nested))

    def _skip_expression(self) -> None:
        """Moves to the ``=``, ``!``, ``:`` or ``}`` that ends the expression."""
        depth = 0
        while True:
            character = self._text[self._at]
            pair = self._text[self._at : self._at + 2]
            if character in "\"'":
                self._skip_string()
                continue
            if depth == 0 and pair in ("!=", "==", "<=", ">="):
                self._at += 2
                continue
            if depth == 0 and character in "=!:}":
                return
            depth += (character in "([{") - (character in ")]}")
            self._at += 1

    def _skip_string(self) -> None:
        quote = self._text[self._at]
        if self._text.startswith(quote * 3, self._at):
            quote *= 3
        self._at = self._text.index(quote, self._at + len(quote)) + len(quote)
