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
              "requests", "sklearn.datasets", "torchaudio.datasets", "torchtext", "gdown",
              "wget")  # fmt: skip
"""Libraries that write what is the same for every run: it may stay, and is fetched once."""
_CACHES = ("__pycache__", "/.cache/", "/.config/")
_LATER_S = 5.0
"""What is changed so long after the last sign of a run was not changed by it."""

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
            self.note(name)
            original(one, name)

        writer.__init__ = begin

    def watch_h5py(self, h5py: Any) -> None:
        """HDF5 writes its files from C, too."""
        original = h5py.File.__init__

        def begin(one: Any, name: Any, mode: str = "r", *args: Any, **options: Any) -> None:
            if mode != "r" and isinstance(name, str | bytes | os.PathLike):
                self.note(name)
            original(one, name, mode, *args, **options)

        h5py.File.__init__ = begin

    def _hook(self, event: str, args: Any) -> None:
        if event == "open":
            path, mode, flags = args
            if isinstance(mode, str):
                writing = any(letter in mode for letter in "wax+")
            else:
                writing = isinstance(flags, int) and bool(flags & _WRITING)
            if writing:
                self.note(path)
        elif event == "os.mkdir":
            self.note(args[0], args[2], directory=True)
        elif event == "os.rename":
            self.note(args[0], args[2], tree=True)
            self.note(args[1], args[3], tree=True)
        elif event == "os.link":
            self.note(args[1], args[3])
        elif event == "os.symlink":
            self.note(args[1], args[2])
        elif event == "os.chmod":
            self.note(args[0], args[2])
        elif event in ("os.remove", "os.rmdir", "shutil.rmtree"):
            self.note(args[0], args[1] if len(args) > 1 else None, tree=True)
        elif event in ("os.truncate", "sqlite3.connect"):
            self.note(args[0])

    def note(
        self, path: Any, base: Any = None, *, directory: bool = False, tree: bool = False
    ) -> None:
        """A path is about to change; with `tree`, and all that is in it."""
        if getattr(self._busy, "now", False) or not isinstance(path, str | bytes | os.PathLike):
            return
        self._busy.now = True
        try:
            name = os.fsdecode(path)
            if isinstance(base, int) and base >= 0:  # relative to a folder that is open
                name = os.path.join(os.readlink(f"/proc/self/fd/{base}"), name)  # noqa: PTH115, PTH118
            self._keep_all(os.path.abspath(name), directory, tree)  # noqa: PTH100
        except (OSError, ValueError):
            pass  # the script's own call is about to fail for the same reason, and says it better
        finally:
            self._busy.now = False

    def _keep_all(self, path: str, directory: bool, tree: bool) -> None:
        """A folder that goes takes with it what is inside; a link leads to another file."""
        if tree and os.path.isdir(path) and not os.path.islink(path):  # noqa: PTH112, PTH114
            for folder, folders, files in os.walk(path):
                self._keep(folder, directory=True, gone=True)
                links = [one for one in folders if os.path.islink(os.path.join(folder, one))]  # noqa: PTH114, PTH118
                for one in (*files, *links):
                    self._keep(os.path.join(folder, one), directory=False)  # noqa: PTH118
        else:
            self._keep(path, directory)
            if not tree and os.path.islink(path):  # noqa: PTH114 (written through)
                self._keep(os.path.realpath(path), directory)

    def _keep(self, path: str, directory: bool, *, gone: bool = False) -> None:
        if path.startswith((self._own, "/dev/", "/proc/", "/sys/")):
            return
        os.utime(self._directory)  # a sign of life, see put_back
        if path in self._seen:
            return
        self._seen.add(path)
        if any(part in path for part in _CACHES) or _of_download():
            return
        name = sha256(os.fsencode(path)).hexdigest()[:24]
        entry = self._directory / f"{name}.json"
        existed = os.path.lexists(path)
        if directory and existed and not gone:
            return
        link = os.readlink(path) if os.path.islink(path) else None  # noqa: PTH114, PTH115
        draft = self._directory / f"{name}.{os.getpid()}"
        draft.write_text(
            json.dumps({"path": path, "existed": existed, "directory": directory, "link": link,
                        "time_s": time.monotonic()})
        )  # fmt: skip
        with suppress(FileExistsError):
            os.link(draft, entry)  # of several workers one is first
            if existed and link is None and Path(path).is_file():
                shutil.copy2(path, self._directory / f"{name}.before")
        draft.unlink()


def changed_paths(directory: Path) -> list[Path]:
    """What a run has written to, in the order in which it did."""
    return [Path(entry["path"]) for entry, _ in _entries(directory)]


def put_back(directory: Path, *, stale: bool = False) -> list[Path]:
    """Undoes every change that is in the journal of the run, the latest first.

    A run that was killed is undone when the next one begins (`stale`). What somebody else has
    changed meanwhile is left alone, and returned.
    """
    entries = _entries(directory)
    last_s = (directory / "files").stat().st_mtime + _LATER_S if entries else 0.0
    left, made = [], []
    for entry, _ in entries:  # folders that are gone come first, the outer ones before the inner
        if entry["directory"] and entry["existed"]:
            with suppress(OSError):
                Path(entry["path"]).mkdir(parents=True, exist_ok=True)
    for entry, path in reversed(entries):
        target = Path(entry["path"])
        if entry["directory"]:
            made += [] if entry["existed"] else [target]
            continue
        if stale and _changed_s(target) > last_s:
            left.append(target)
            continue
        with suppress(OSError):
            _undo(target, entry, path.with_suffix(".before"))
    for target in sorted(made, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):
            os.rmdir(target)  # noqa: PTH106 (only when it is empty)
    return left


def _undo(target: Path, entry: dict[str, Any], before: Path) -> None:
    if entry.get("link") is not None:
        target.unlink(missing_ok=True)
        target.symlink_to(entry["link"])
    elif before.exists():
        if target.is_symlink():
            target.unlink()
        shutil.copy2(before, target)
    elif not entry["existed"] and target.is_dir() and not target.is_symlink():
        shutil.rmtree(target)  # a folder that the run has given this name
    elif not entry["existed"]:
        target.unlink(missing_ok=True)


def _changed_s(target: Path) -> float:
    """When it was last changed; of a folder, when anything in it was."""
    inside = target.rglob("*") if target.is_dir() and not target.is_symlink() else ()
    found = [0.0]
    for one in (target, *inside):
        with suppress(OSError):
            found.append(one.lstat().st_mtime)
    return max(found)


def _entries(directory: Path) -> list[tuple[dict[str, Any], Path]]:
    found = [(json.loads(path.read_text()), path) for path in (directory / "files").glob("*.json")]
    return sorted(found, key=lambda entry: float(entry[0]["time_s"]))


def _of_download() -> bool:
    frame: Any = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__") or ""
        if any(module == name or module.startswith(f"{name}.") for name in _DOWNLOADS):
            file = frame.f_code.co_filename  # a module of the script's own may have such a name
            return "-packages" in file or file.startswith(os.path.dirname(os.__file__))  # noqa: PTH120
        frame = frame.f_back
    return False
