"""How trainera speaks: `file:line:col: rule: what — why — what to do`, the source line, a caret.

Colour and tables are for terminals only. Into a file or a pipe goes plain text, a message a line.
"""

import json
import os
import re
import sys
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainera.errors import UserError
from trainera.plan import (
    Action,
    Edit,
    Enclose,
    Insert,
    Keyword,
    Note,
    Plan,
    Refusal,
    Replace,
    Through,
    Unwrap,
    Wrap,
)
from trainera.read.source.place import Place

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

WIDEST_EXCERPT = 100
"""Characters of a source line that are shown; of a longer one, those around the place."""

_POSITION = re.compile(r"(?P<path>[^\n]+?):(?P<line>\d+):(?P<column>\d+): ")


def console(*, stderr: bool = False) -> "Console":
    """A console on the stream as it is now; rich leaves colour out when that is no terminal."""
    from rich.console import Console

    return Console(stderr=stderr, highlight=False, soft_wrap=True)


def say(text: str) -> None:
    """One line of trainera's own on stderr; stdout is kept for what was asked for."""
    print(text, file=sys.stderr, flush=True)


def print_data(data: dict[str, Any]) -> None:
    """The answer under ``--json``."""
    print(json.dumps(data, indent=2))


def shown(path: Path) -> str:
    """The path as it is said from the current directory, when it lies within."""
    if not path.is_absolute():
        return str(path)
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative


def counted(number: int, noun: str) -> str:
    """``1 change``, ``2 changes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Messages with a place


def print_refusals(plan: Plan, *, stderr: bool) -> None:
    """Why the script is refused, every reason with its place."""
    for refusal in plan.refusals:
        _print_message(refusal, f"{refusal.what} — {refusal.why} — {refusal.do}", "red", stderr)


def print_notes(plan: Plan, *, stderr: bool) -> None:
    """What the user should know although it stops nothing."""
    for note in plan.notes:
        _print_message(note, f"note: {note.what} — {note.why}", "yellow", stderr)


def print_error(error: UserError) -> None:
    """An error on stderr; one that begins with a position gets its source line, if it has none."""
    from rich.text import Text

    message = str(error)
    found = _POSITION.match(message)
    text = Text().append("trainera: " if found is None else found[0], "bold")
    text.append(message if found is None else message[found.end() :], "red")
    if found and "\n" not in message:
        column = int(found["column"]) - 1
        text.append_text(
            excerpt(Path(found["path"]), int(found["line"]), column, column + 1, "red")
        )
    console(stderr=True).print(text)


def _print_message(item: Refusal | Note, message: str, colour: str, stderr: bool) -> None:
    from rich.text import Text

    place = item.place
    text = Text().append(f"{_position(place)}: ", "bold").append(f"{item.rule}: ", colour)
    text.append(message)
    end = place.end_column if place.end_line == place.line else sys.maxsize
    text.append_text(excerpt(place.path, place.line, place.column, end, colour))
    console(stderr=stderr).print(text)


def _position(place: Place) -> str:
    return f"{shown(place.path)}:{place.line}:{place.column + 1}"


def excerpt(path: Path, line: int, start: int, end: int, colour: str) -> "Text":
    """The source line with carets under the columns; empty when it cannot be read any more."""
    from rich.cells import cell_len
    from rich.text import Text

    source = _source_line(path, line)
    if source is None:
        return Text()
    end = max(start + 1, min(end, len(source)))
    if len(source) > WIDEST_EXCERPT:
        first = max(0, min(start - WIDEST_EXCERPT // 3, len(source) - WIDEST_EXCERPT))
        source = f"…{source[first + 1 :]}" if first else source
        source = source[: WIDEST_EXCERPT - 1] + "…" if len(source) > WIDEST_EXCERPT else source
        start, end = start - first, min(end - first, len(source))
    # Tabs stay tabs and wide characters count twice, so that the carets stand where they should.
    before = "".join(
        "\t" if letter == "\t" else " " * cell_len(letter) for letter in source[:start]
    )
    before += " " * (start - len(source))
    carets = "^" * max(1, cell_len(source[start:end]))
    gutter = f"{line:>5}"
    text = Text().append(f"\n{gutter} | ", "dim").append(source)
    return text.append(f"\n{' ' * len(gutter)} | ", "dim").append(f"{before}{carets}", colour)


def _source_line(path: Path, line: int) -> str | None:
    try:
        with tokenize.open(path) as file:
            text = file.read().split("\n")[line - 1]
    except (OSError, SyntaxError, ValueError, IndexError):
        return None
    return "".join(letter if letter.isprintable() or letter == "\t" else "·" for letter in text)


# Plans


def change(action: Action) -> str:
    """An action in a few characters, the code that it keeps as an ellipsis."""
    match action:
        case Insert():
            return "+ " + action.text.replace("(\n    ", "(").replace("\n)", ")")
        case Keyword():
            return f"{action.name}={action.value}"
        case Through():
            return f"{action.function}(…)"
        case Replace():
            return action.text
        case Enclose():
            return f"{action.head}…{action.tail}"
        case Unwrap():
            return "the first argument"
        case Wrap():
            return action.template.replace("{}", "…")


def print_edits(plan: Plan) -> None:
    """Every edit on stdout: a table on a terminal, a greppable line each elsewhere."""
    edits = _in_order(plan)
    out = console()
    if not out.is_terminal:
        for edit in edits:
            print(f"{_position(edit.place)}: {edit.rule}: {change(edit.action)} — {edit.reason}")
        return
    from rich.table import Table
    from rich.text import Text

    for path in plan.files:
        table = Table(box=None, pad_edge=False, header_style="dim", title_justify="left")
        if len(plan.files) > 1:
            table.title = Text(shown(path), style="bold")
        table.add_column("line", justify="right")
        table.add_column("rule", style="cyan", no_wrap=True)
        table.add_column("change", style="green", overflow="fold")
        table.add_column("why", overflow="fold")
        for edit in edits:
            if edit.place.path == path:
                action = Text(change(edit.action))
                table.add_row(str(edit.place.line), edit.rule, action, Text(edit.reason))
        out.print(table, soft_wrap=False)


@dataclass(frozen=True, kw_only=True)
class _Group:
    path: Path
    rule: str
    reason: str


def print_explanation(plan: Plan, *, stderr: bool) -> None:
    """Why each line changes: ``line: rule: reason``, lines of one reason together."""
    groups: dict[_Group, list[int]] = {}
    for edit in _in_order(plan):
        group = _Group(path=edit.place.path, rule=edit.rule, reason=edit.reason)
        lines = groups.setdefault(group, [])
        if edit.place.line not in lines:
            lines.append(edit.place.line)
    from rich.text import Text

    out = console(stderr=stderr)
    for path in plan.files:
        if len(plan.files) > 1:
            out.print(Text(shown(path), style="bold"))
        for group, lines in groups.items():
            if group.path == path:
                text = Text(f"{', '.join(map(str, lines))}: ").append(f"{group.rule}: ", "cyan")
                out.print(text.append(group.reason))


def _in_order(plan: Plan) -> list[Edit]:
    rank = {path: index for index, path in enumerate(plan.files)}
    return sorted(plan.edits, key=lambda edit: (rank[edit.place.path], edit.place))


# Diffs


def print_diff(diffs: Iterable[str]) -> None:
    """Unified diffs on stdout: coloured on a terminal, elsewhere exactly what ``patch`` reads."""
    from rich.text import Text

    out = console()
    for diff in diffs:
        if not out.is_terminal:
            sys.stdout.flush()
            sys.stdout.buffer.write(diff.encode("utf-8", "surrogateescape"))
            continue
        for line in diff.removesuffix("\n").split("\n"):
            out.print(Text(line, style=_diff_style(line)))


def _diff_style(line: str) -> str:
    for start, style in (("+++", "bold"), ("---", "bold"), ("@@", "cyan"), ("+", "green")):
        if line.startswith(start):
            return style
    return "red" if line.startswith("-") else ""
