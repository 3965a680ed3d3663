"""Keeps what a run overwrites, so that both runs begin alike and nothing of the user's is lost.

An audit hook is told of every file before it is opened. What was there is copied away the first
time; the launcher puts it back after the run (`trainera.verify.files`).
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
        self._directory.mkdir(exist_ok=True)
        self._own = str(directory.resolve())
        self._seen: set[str] = set()
        self._busy = threading.local()

    def install(self) -> None:
        """From now on, in this process and in those that it forks."""
        sys.addaudithook(self._hook)

    def before_writing(self, path: Any) -> None:
        """For writers that Python is not told of."""
        self._note(path, directory=False)

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


def _of_download() -> bool:
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if any(module == name or module.startswith(f"{name}.") for name in _DOWNLOADS):
            return True
        frame = frame.f_back
    return False
