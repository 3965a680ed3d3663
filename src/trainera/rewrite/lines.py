"""Compiles a converted file so that tracebacks show the user's own file and line numbers."""

import ast
from itertools import pairwise
from types import CodeType

from trainera.plan import Converted
from trainera.read.source.positions import decode, line_offsets


def compile_with_original_lines(converted: Converted, filename: str) -> CodeType:
    """The code of a converted file, each instruction at the line of `before` it came from.

    Columns are kept on lines that did not change; on the others there are none, so that a
    traceback shows the line without marks under it rather than marks in the wrong place.
    """
    tree = ast.parse(converted.after, filename=filename)
    untouched = _untouched_lines(converted)
    last = len(converted.lines)
    for node in ast.walk(tree):
        line, end_line = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if line is None or end_line is None:
            continue
        line, end_line = min(max(line, 1), last), min(max(end_line, 1), last)
        new_line = converted.lines[line - 1]
        new_end_line = max(new_line, converted.lines[end_line - 1])
        start, end = node.col_offset, node.end_col_offset  # type: ignore[attr-defined]
        exact = untouched[line - 1] and untouched[end_line - 1]
        if not exact or start < 0 or (new_line == new_end_line and start > end):
            start = end = -1
        node.lineno, node.end_lineno = new_line, new_end_line  # type: ignore[attr-defined]
        node.col_offset, node.end_col_offset = start, end  # type: ignore[attr-defined]
    return compile(tree, filename, "exec", dont_inherit=True)


def _untouched_lines(converted: Converted) -> list[bool]:
    """For each line of the new file whether it is the line of the old one that it came from."""
    before, after = lines_of(converted.before), lines_of(converted.after)
    return [
        old <= len(before) and before[old - 1].rstrip("\r\n") == new.rstrip("\r\n")
        for old, new in zip(converted.lines, after, strict=True)
    ]


def lines_of(source: bytes) -> list[str]:
    """The lines of a Python file with their ends, counted as Python counts them."""
    text = decode(source)
    offsets = [*line_offsets(text), len(text)]
    lines = [text[start:end] for start, end in pairwise(offsets)]
    return lines[:-1] if len(lines) > 1 and not lines[-1] else lines
