"""Shows what a conversion changes."""

import difflib
from collections.abc import Iterator

from trainera.plan import Converted
from trainera.rewrite.lines import lines_of


def unified_diff(
    converted: Converted, *, name: str | None = None, new_name: str | None = None, context: int = 3
) -> str:
    """The changes of one file as ``diff -u`` and ``patch`` know them; empty if there are none.

    Without `name` the file's path is used, and without `new_name` the new file has the same.
    """
    old = name if name is not None else converted.path.as_posix()
    new = new_name if new_name is not None else old
    before, after = lines_of(converted.before), lines_of(converted.after)
    return "".join(_with_line_ends(_unified(before, after, old, new, context)))


def _unified(
    before: list[str], after: list[str], old: str, new: str, context: int
) -> Iterator[str]:
    """As `difflib.unified_diff`, which in long files takes blank lines for changed ones."""
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(context)):
        if number == 0:
            yield f"--- {old}\n"
            yield f"+++ {new}\n"
        first, last = group[0], group[-1]
        yield f"@@ -{_span(first[1], last[2])} +{_span(first[3], last[4])} @@\n"
        for tag, start, end, new_start, new_end in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[start:end])
                continue
            yield from (f"-{line}" for line in before[start:end])
            yield from (f"+{line}" for line in after[new_start:new_end])


def _span(start: int, end: int) -> str:
    """A range of lines as a hunk's head writes it."""
    length = end - start
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _with_line_ends(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line[-1] in "\r\n":
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"
