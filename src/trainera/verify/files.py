"""What is left of an observed run."""

from contextlib import suppress
from pathlib import Path

from trainera.launch.journal import changed_paths, put_back

_LARGEST_TEXT_BYTES = 2**20


def settle(directory: Path) -> None:
    """After a run: its texts are kept, and the user's files are as they were before it."""
    _keep_texts(directory)
    put_back(directory)


def _keep_texts(directory: Path) -> None:
    """Copies of the small text files that the run wrote, by name and in order."""
    kept = directory / "texts"
    kept.mkdir(exist_ok=True)
    for path in changed_paths(directory):
        with suppress(OSError, UnicodeDecodeError):
            if path.is_file() and path.stat().st_size <= _LARGEST_TEXT_BYTES:
                text = path.read_text(encoding="utf-8")
                if "\0" not in text and path.suffix in (".csv", ".tsv", ".json", ".txt", ".log"):
                    (kept / path.name).write_text(text, encoding="utf-8")
