"""Files that TensorFlow writes from C++, which no audit hook hears of."""

import os
from functools import partial
from pathlib import Path
from typing import Any

from tensorflow.python.checkpoint import functional_saver
from tensorflow.python.lib.io import _pywrap_file_io
from tensorflow.python.ops import gen_summary_ops

from trainera.launch.journal import Journal
from trainera.verify.observe.record import Recorder, put
from trainera.verify.observe.tf_keras.telling import hook

CREATING = ("CreateDir", "RecursivelyCreateDir")
WRITING = {"WritableFile": slice(1), "CopyFile": slice(1, 2)}
MOVING = {"DeleteFile": slice(1), "DeleteRecursively": slice(1), "RenameFile": slice(2)}
"""Which of the arguments are paths that are changed."""


def watch_files(recorder: Recorder, journal: Journal) -> None:
    """Has the journal know of them in time; records for TensorBoard go elsewhere altogether."""

    def noting(note: Any, plain: Any) -> Any:
        def call(*args: Any) -> Any:
            note(args)
            return plain(*args)

        return call

    def create(args: Any) -> None:
        _note_folders(journal, args[0])

    def change(args: Any, which: slice, tree: bool) -> None:
        for path in args[which]:
            journal.note(path, tree=tree)

    notes: dict[str, Any] = dict.fromkeys(CREATING, create)
    notes |= {name: partial(change, which=which, tree=False) for name, which in WRITING.items()}
    notes |= {name: partial(change, which=which, tree=True) for name, which in MOVING.items()}
    for name, note in notes.items():
        put(_pywrap_file_io, name, noting(note, getattr(_pywrap_file_io, name)))
    _watch_checkpoints(journal)
    _send_records_elsewhere(Path(recorder.settings.directory) / "records")


def _note_folders(journal: Journal, path: Any) -> None:
    """A folder and those above it that are not there yet, the outer ones first."""
    folder = Path(os.fsdecode(path)).absolute()
    for one in (*reversed(folder.parents), folder):
        if not one.exists():
            journal.note(one, directory=True)


def _watch_checkpoints(journal: Journal) -> None:
    def make(plain: Any) -> Any:
        def save(saver: Any, file_prefix: Any, *args: Any, **options: Any) -> Any:
            value = file_prefix.numpy() if hasattr(file_prefix, "numpy") else file_prefix
            if isinstance(value, str | bytes):
                prefix = os.fsdecode(value)
                _note_folders(journal, Path(prefix).parent)
                for end in (".index", ".data-00000-of-00001", "_temp"):
                    journal.note(prefix + end)
            return plain(saver, file_prefix, *args, **options)

        return save

    hook(functional_saver.MultiDeviceSaver, "save", make)


def _send_records_elsewhere(folder: Path) -> None:
    """Their names hang on the clock, and nobody compares them."""
    plain = gen_summary_ops.create_summary_file_writer

    def create(writer: Any, logdir: Any, *args: Any, **options: Any) -> Any:
        return plain(writer, str(folder), *args, **options)

    put(gen_summary_ops, "create_summary_file_writer", create)
