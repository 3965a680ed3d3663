"""Where two snapshots differ, in words that a reader can act on."""

import difflib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.tools.snapshot.cases import load
from tests.tools.snapshot.saving import CRASHED, RESULTS

SAME = "same"
MISSING, ADDED = "only in the old snapshot", "only in the new snapshot"
CRASH, VERDICT, PLAN, BYTES = "new crash", "other verdict", "other plan", "other bytes"


@dataclass(frozen=True, kw_only=True)
class Difference:
    """One thing that is not as it was."""

    what: str
    where: str
    lines: tuple[str, ...] = ()

    def shown(self, most: int) -> str:
        """With so many lines of the difference."""
        lines = [f"== {self.what}: {self.where}", *self.lines[:most]]
        if len(self.lines) > most:
            lines.append(f"… {len(self.lines) - most} more lines")
        return "\n".join(lines)


def compare(old: Path, new: Path, *, common: bool = False) -> tuple[list[Difference], Counter[str]]:
    """All differences, and how many outcomes are of each sort.

    With `common`, cases that only one of both has are passed over.
    """
    before = {case.name: case for case in load(old)}
    after = {case.name: case for case in load(new)}
    found: list[Difference] = []
    counts: Counter[str] = Counter()
    if not common:
        found += [Difference(what=MISSING, where=name) for name in before if name not in after]
        found += [Difference(what=ADDED, where=name) for name in after if name not in before]
        counts.update(one.what for one in found)
    for name in before:
        if name not in after:
            continue
        then, now = _results(old, name), _results(new, name)
        for engine in then:
            where = f"{name} [{engine}] ({after[name].origin})"
            differences = list(_between(then[engine], now[engine], where))
            found += differences
            counts.update({one.what for one in differences} or {SAME})
    return found, counts


def _results(folder: Path, name: str) -> dict[str, Any]:
    path = folder / RESULTS / f"{name}.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _between(then: dict[str, Any], now: dict[str, Any], where: str) -> Iterator[Difference]:
    if then == now:
        return
    if then["verdict"] != now["verdict"]:
        told = (f"- {then['verdict']}", f"+ {now['verdict']}")
        crashed = now["verdict"] == CRASHED
        told += (now["error"],) if crashed else ()
        yield Difference(what=CRASH if crashed else VERDICT, where=where, lines=told)
        if crashed:
            return
    plans = _diff(_plan_lines(then), _plan_lines(now))
    if plans:
        yield Difference(what=PLAN, where=where, lines=plans)
    old, new = then.get("files", {}), now.get("files", {})
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            lines = _diff(_text_lines(old.get(path, "")), _text_lines(new.get(path, "")))
            yield Difference(what=BYTES, where=f"{where}: {path}", lines=lines)


def _plan_lines(outcome: dict[str, Any]) -> list[str]:
    """The outcome as JSON, an edit, a note or a refusal a line; without the converted text."""
    lines = []
    for key, value in outcome.items():
        if key == "plan":
            for part, content in value.items():
                items = content if isinstance(content, list) else [content]
                lines += [f"{part}: {_plain(item)}" for item in items]
        elif key != "files":
            lines.append(f"{key}: {_plain(value)}")
    return lines


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text_lines(text: str) -> list[str]:
    """The lines, printable: ends of lines and bytes that are no UTF-8 may be the difference."""
    shown = text.encode("utf-8", "backslashreplace").decode().replace("\r", "\\r")
    return shown.split("\n")


def _diff(old: list[str], new: list[str]) -> tuple[str, ...]:
    return tuple(difflib.unified_diff(old, new, "old", "new", lineterm="", n=1))
