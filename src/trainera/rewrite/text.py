"""Changes of a text, kept apart from the text until all of them are known.

The tree says *where* to change, but the new file is put together from the old one's own text:
what no change touches is then the same byte for byte, and the origin of each new line is known.
"""

import codecs
import io
import tokenize
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trainera.read.source.positions import line_offsets


@dataclass(frozen=True)
class Change:
    """Puts `text` in the place of the characters from `start` to `end` (none: an insertion)."""

    start: int
    end: int
    text: str
    line: int
    """The line of the old text that the new text belongs to."""


def splice(text: str, changes: Iterable[Change]) -> tuple[str, tuple[int, ...]]:
    """The new text, and for each of its lines the line of the old text that it came from.

    Changes at one offset are applied in the order given.
    """
    pieces: list[str] = []
    origins: list[tuple[int, int]] = []  # offset in the new text, line of the old one
    before, length = line_offsets(text), 0
    at = 0

    def keep(start: int, end: int) -> None:
        nonlocal length
        assert start <= end, "two changes of the same piece of source"
        if start < end:
            first = bisect_right(before, start)
            origins.append((length, first))
            for line in range(first, bisect_right(before, end - 1)):
                origins.append((length + before[line] - start, line + 1))
            pieces.append(text[start:end])
            length += end - start

    for change in sorted(changes, key=lambda change: change.start):
        keep(at, change.start)
        if change.text:
            origins.append((length, -change.line))
            pieces.append(change.text)
            length += len(change.text)
        at = change.end
    keep(at, len(text))
    after = "".join(pieces)
    return after, _origin_of_lines(after, origins)


def _origin_of_lines(after: str, origins: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """The old line of each new line: of its first old character, else of the change it is from.

    Lines of changes are negative in `origins`.
    """
    starts = line_offsets(after)
    if len(starts) > 1 and starts[-1] == len(after):
        starts.pop()
    offsets = [offset for offset, _ in origins]
    lines = []
    for number, start in enumerate(starts):
        end = starts[number + 1] if number + 1 < len(starts) else len(after)
        first = max(bisect_right(offsets, start) - 1, 0)
        here = [line for _, line in origins[first : max(bisect_left(offsets, end), first + 1)]]
        old = [line for line in here if line > 0]
        lines.append(old[0] if old else -here[0] if here else 1)
    return tuple(lines)


def encoding_of(source: bytes) -> str:
    """The encoding that a Python file declares; ``utf-8-sig`` if it has a byte order mark."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    return codecs.lookup(encoding).name


def writable(text: str, encoding: str) -> str:
    """New text for a file of some encoding: what it cannot hold is written as escapes."""
    return text.encode(encoding, "backslashreplace").decode(encoding)
