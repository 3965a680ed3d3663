"""Files that are opened: all workers may read, one may write."""

import ast

from trainera.read.interpret.library import Library
from trainera.read.interpret.state import Frame
from trainera.read.values import PLAIN, Const, FirstOnly, Value

# What opens files for reading or for writing: where the mode stands, and what it is by default.
OPENERS = {
    "zipfile.ZipFile": (1, "r"),
    "tarfile.TarFile": (1, "r"),
    "h5py.File": (1, "r"),
    "netCDF4.Dataset": (1, "r"),
    "numpy.memmap": (2, "r+"),
    "numpy.lib.format.open_memmap": (1, "r+"),
    "pandas.HDFStore": (1, "a"),
    "shelve.open": (1, "c"),
    "zarr.open": (1, "a"),
    "zarr.open_group": (1, "a"),
}


class Files(Library):
    """Files that are opened: all workers may read, one may write."""

    def call(self, name: str, node: ast.Call, frame: Frame) -> Value | None:
        last = name.rsplit(".", 1)[-1]
        if (last == "open" and name != "os.open") or name in OPENERS:
            return self._open(name, node, frame)
        return None

    def _open(self, name: str, node: ast.Call, frame: Frame) -> Value:
        positional, keywords = self.machine.calls.arguments(node, frame)
        self.machine.calls.gathered_arguments(node, frame)
        place, default = OPENERS.get(name, (1, "r"))
        mode = keywords.get("mode") or keywords.get("flag")
        mode = mode or (positional[place] if len(positional) > place else Const(default))
        if not isinstance(mode, Const) and frame.policy.arranges_side_effects:
            self.notes.trouble("once", "unknown-mode", node, frame, frozenset())
        reads = isinstance(mode, Const) and isinstance(mode.value, str) and "r" in mode.value
        reads |= name == "numpy.memmap" and isinstance(mode, Const) and mode.value == "c"
        self.notes.once.drop(node, frame)
        if not reads or (isinstance(mode, Const) and "+" in str(mode.value)):
            self.notes.once.mark(node, frame, "open")
            self.path.needs_all_workers()
            return FirstOnly()
        return PLAIN
