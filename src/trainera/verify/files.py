"""Puts back what an observed run has overwritten, and keeps what it wrote for the comparison."""

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

_LARGEST_TEXT_BYTES = 2**20


def put_back(directory: Path) -> None:
    """Undoes every change that is in the journal of the run, the latest first."""
    journal = directory / "files"
    if not journal.is_dir():
        return
    entries: list[tuple[dict[str, Any], Path]] = [
        (json.loads(path.read_text()), path) for path in journal.glob("*.json")
    ]
    entries.sort(key=lambda entry: entry[0]["time_s"], reverse=True)
    _keep_texts(directory, [Path(entry["path"]) for entry, _ in reversed(entries)])
    directories = []
    for entry, path in entries:
        target = Path(entry["path"])
        if entry["directory"]:
            directories.append(target)
            continue
        before = path.with_suffix(".before")
        with suppress(OSError):
            if before.exists():
                shutil.copy2(before, target)
            elif not entry["existed"]:
                target.unlink(missing_ok=True)
    for target in sorted(directories, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):
            os.rmdir(target)  # noqa: PTH106 (only when it is empty)


def _keep_texts(directory: Path, paths: list[Path]) -> None:
    """Copies of the small text files that the run wrote, by name and in order."""
    kept = directory / "texts"
    kept.mkdir(exist_ok=True)
    for path in paths:
        with suppress(OSError, UnicodeDecodeError):
            if path.is_file() and path.stat().st_size <= _LARGEST_TEXT_BYTES:
                text = path.read_text(encoding="utf-8")
                if "\0" not in text and path.suffix in (".csv", ".tsv", ".json", ".txt", ".log"):
                    (kept / path.name).write_text(text, encoding="utf-8")
