"""Two texts compared as a reader would: the words must be the same, the numbers must agree."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\b(?:nan|inf)\b")
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?)?|\b\d{1,3}:\d\d(?::\d\d)?(?:\.\d+)?\b"
    r"|0x[0-9a-f]{6,}"
)
_UNIT = re.compile(
    r"\s*(?:s|secs?|seconds?|ms|[uµ]s|mins?|minutes?|h|hours?|[KMGT]i?B|"
    r"(?:\w+)\s?(?:/|per)\s?(?:s|sec|second|h))\b",
    re.IGNORECASE,
)
_ABOUT_TIME = re.compile(
    r"(?:time|elapsed|took|eta|duration|speed|throughput|seconds?|memory|per second|/s|/sec)"
    r"[^\d\n]{0,12}$",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Token:
    """A piece of a line: text, or a number."""

    text: str
    number: float | None = None


IGNORED = Token(text="…")
"""A time, a speed, an amount of memory."""


@dataclass(frozen=True, kw_only=True)
class Mismatch:
    """The first place where two texts part."""

    line: int
    sequential: str
    parallel: str
    relative: float | None
    """How far apart the numbers are; None if the words differ."""


@dataclass(frozen=True, kw_only=True)
class TextComparison:
    """What came out."""

    mismatch: Mismatch | None
    numbers: int
    ignored: int
    """Numbers that look like times, speeds or amounts of memory: no two runs agree on them."""
    largest: float


def compare_texts(
    sequential: str, parallel: str, tolerance: float, *, exact: bool
) -> TextComparison:
    """Line by line. Unless `exact`, the last digit may differ by one: it was rounded."""
    ones, others = sequential.splitlines(), parallel.splitlines()
    numbers = ignored = 0
    largest = 0.0
    for index in range(max(len(ones), len(others))):
        one = ones[index] if index < len(ones) else None
        other = others[index] if index < len(others) else None
        mismatch = Mismatch(
            line=index + 1, sequential=one or "", parallel=other or "", relative=None
        )
        if one is None or other is None:
            return _result(mismatch, numbers, ignored, largest)
        first, second = list(tokens(one)), list(tokens(other))
        if [t.text for t in first if t.number is None] != [
            t.text for t in second if t.number is None
        ] or len(first) != len(second):
            return _result(mismatch, numbers, ignored, largest)
        ignored += sum(t is IGNORED for t in first)
        for a, b in zip(first, second, strict=True):
            if (a.number is None) != (b.number is None):
                return _result(mismatch, numbers, ignored, largest)
            if a.number is None or b.number is None:
                continue
            numbers += 1
            relative = _apart(a, b, exact)
            if relative > tolerance:
                found = Mismatch(line=index + 1, sequential=one, parallel=other, relative=relative)
                return _result(found, numbers, ignored, max(largest, relative))
            largest = max(largest, relative)
    return _result(None, numbers, ignored, largest)


def _result(
    mismatch: Mismatch | None, numbers: int, ignored: int, largest: float
) -> TextComparison:
    return TextComparison(mismatch=mismatch, numbers=numbers, ignored=ignored, largest=largest)


def tokens(line: str) -> Iterator[Token]:
    """Words and numbers in order; what tells the time is told apart."""
    end = 0
    spans = [(found.span(), True) for found in _MOMENT.finditer(line)]
    for found in _NUMBER.finditer(line):
        if not any(a <= found.start() < b for (a, b), _ in spans):
            spans.append((found.span(), False))
    for (start, stop), moment in sorted(spans):
        yield Token(text=line[end:start])
        end = stop
        if moment or _UNIT.match(line, stop) or _ABOUT_TIME.search(line[:start]):
            yield IGNORED
        else:
            text = line[start:stop]
            yield Token(text=text, number=float(text.replace("_", "")))
    yield Token(text=line[end:])


def _apart(one: Token, other: Token, exact: bool) -> float:
    a, b = one.number, other.number
    assert a is not None and b is not None
    if a == b or (math.isnan(a) and math.isnan(b)):
        return 0.0
    if not (math.isfinite(a) and math.isfinite(b)):
        return math.inf
    distance = abs(a - b)
    if not exact:
        distance = max(0.0, distance - 1.001 * max(_last_digit(one.text), _last_digit(other.text)))
    return distance / max(abs(a), abs(b))


def _last_digit(text: str) -> float:
    """What one unit of the last printed digit is worth."""
    mantissa, _, exponent = text.lower().partition("e")
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals) if "." in mantissa or exponent else 0.0
