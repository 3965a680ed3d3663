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
    return "".join(_with_line_ends(difflib.unified_diff(before, after, old, new, n=context)))


def _with_line_ends(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line[-1] in "\r\n":
            yield line
        else:
            yield f"{line}\n\\ No newline at end of file\n"
