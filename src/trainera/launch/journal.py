"""Keeps what a run overwrites, so that all runs begin alike and nothing of the user's is lost.

An audit hook is told of every file before it is opened. What was there is copied away the first
time; who has started the run puts it back when that is over. A file of its own for all this: it is
also loaded by its path, into processes that import nothing of trainera.
"""

import json
import os
import shutil
import sys
import threading
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

_DOWNLOADS = ("torchvision.datasets", "torch.hub", "urllib.request", "huggingface_hub", "datasets",
              "requests", "sklearn.datasets", "torchaudio.datasets", "torchtext", "gdown", "wget",
              "matplotlib", "importlib")  # fmt: skip
"""Modules that write what is the same for every run: it may stay, and need not be fetched twice."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Journal:
    """Notes each path that is about to change, once for all workers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory / "files"
        self._directory.mkdir(parents=True, exist_ok=True)
        self._own = str(directory.resolve())
        self._seen: set[str] = set()
        self._busy = threading.local()

    def install(self) -> None:
        """From now on, in this process and in those that it forks."""
        sys.addaudithook(self._hook)

    def watch_torch(self, torch: Any) -> None:
        """torch writes its files from C++, which no audit hook hears of."""
        writer = torch.serialization._open_zipfile_writer_file
        original = writer.__init__

        def begin(one: Any, name: Any) -> None:
            self._note(name, directory=False)
            original(one, name)

        writer.__init__ = begin

    def _hook(self, event: str, args: Any) -> None:
        if event == "open":
            path, mode, flags = args
            if isinstance(mode, str):
                writing = any(letter in mode for letter in "wax+")
            else:
                writing = isinstance(flags, int) and bool(flags & _WRITING)
            if writing:
                self._note(path, directory=False)
        elif event == "os.mkdir":
            self._note(args[0], directory=True)
        elif event == "os.rename":
            self._note(args[0], directory=False)
            self._note(args[1], directory=False)
        elif event in ("os.remove", "os.truncate", "sqlite3.connect"):
            self._note(args[0], directory=False)

    def _note(self, path: Any, *, directory: bool) -> None:
        if getattr(self._busy, "now", False) or not isinstance(path, str | bytes | os.PathLike):
            return
        self._busy.now = True
        try:
            self._keep(os.path.abspath(os.fsdecode(path)), directory)  # noqa: PTH100
        except (OSError, ValueError):
            pass  # the script's own call is about to fail for the same reason, and says it better
        finally:
            self._busy.now = False

    def _keep(self, path: str, directory: bool) -> None:
        if path in self._seen or path.startswith((self._own, "/dev/", "/proc/", "/sys/")):
            return
        self._seen.add(path)
        if "__pycache__" in path or _of_download():
            return
        name = sha256(os.fsencode(path)).hexdigest()[:24]
        entry = self._directory / f"{name}.json"
        existed = os.path.lexists(path)
        if directory and existed:
            return
        draft = self._directory / f"{name}.{os.getpid()}"
        draft.write_text(
            json.dumps({"path": path, "existed": existed, "directory": directory,
                        "time_s": time.monotonic()})
        )  # fmt: skip
        with suppress(FileExistsError):
            os.link(draft, entry)  # of several workers one is first
            if existed and Path(path).is_file():
                shutil.copy2(path, self._directory / f"{name}.before")
        draft.unlink()


def changed_paths(directory: Path) -> list[Path]:
    """What a run has written to, in the order in which it did."""
    return [Path(entry["path"]) for entry, _ in _entries(directory)]


def put_back(directory: Path) -> None:
    """Undoes every change that is in the journal of the run, the latest first."""
    directories = []
    for entry, path in reversed(_entries(directory)):
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


def _entries(directory: Path) -> list[tuple[dict[str, Any], Path]]:
    found = [(json.loads(path.read_text()), path) for path in (directory / "files").glob("*.json")]
    return sorted(found, key=lambda entry: float(entry[0]["time_s"]))


def _of_download() -> bool:
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if any(module == name or module.startswith(f"{name}.") for name in _DOWNLOADS):
            return True
        frame = frame.f_back
    return False
