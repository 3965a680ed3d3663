"""What each worker process runs: the converted script, as if Python itself had been given it.

Started as a file, ``python worker.py DIRECTORY``, so that no module of the current directory can
stand in the way of its imports; for the same reason these come only after the search path is the
one that the script would have.
"""

import sys

TYPE_CHECKING = False  # mypy knows the name; `typing` is not imported here for it
if TYPE_CHECKING:
    from pathlib import Path


def main() -> int:
    """Runs the script of the payload as ``__main__`` and returns the exit status."""
    search_path = sys.path
    if not getattr(sys.flags, "safe_path", False):
        search_path.pop(0)  # trainera/launch, which is nobody's to import from

    import marshal
    import os
    import signal
    from pathlib import Path

    directory = Path(sys.argv[1])
    payload = marshal.loads((directory / "payload").read_bytes())
    if payload["root"] not in search_path:
        search_path.append(payload["root"])

    from trainera.launch.imports import ConvertedFinder
    from trainera.launch.system import die_with_parent

    die_with_parent(payload["parent"])
    _keep_temporary_files(directory)
    if payload["modules"]:
        sys.meta_path.insert(0, ConvertedFinder(payload["modules"]))
    if not getattr(sys.flags, "safe_path", False):
        search_path.insert(0, payload["directory"])
    sys.argv[:] = [payload["script"], *payload["arguments"]]
    namespace = _fresh_main(payload["file"], payload["package"])

    pid, rank = os.getpid(), int(os.environ["RANK"])  # the script may have it forgotten
    if "observer" in payload:
        from importlib import import_module

        import_module(payload["observer"]["module"]).begin(payload["observer"]["settings"])

    if payload["alone"]:
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
            os.environ.pop(name, None)
    try:
        # Blocked since before the start, so that an interrupt finds the script or nothing.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        exec(payload["main"], namespace)
    except BaseException as error:
        if os.getpid() != pid:  # a process that the script forked
            raise
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return _failed(error, rank, directory)
    return 0


def _keep_temporary_files(directory: "Path") -> None:
    """Has multiprocessing put its sockets into the run's directory: a killed worker leaves them.

    Only those: what the script itself makes with `tempfile` may be meant to last.
    """
    from multiprocessing.process import current_process

    # As multiprocessing.util.get_temp_dir() does for its children; there is no public way.
    vars(current_process()).setdefault("_config", {})["tempdir"] = str(directory)


def _fresh_main(file: str, package: "str | None") -> "dict[str, object]":
    """Puts a new ``__main__`` in the place of this one and returns its namespace."""
    import builtins
    from importlib.machinery import SourceFileLoader
    from types import ModuleType

    module = ModuleType("__main__")
    module.__dict__.update(
        __builtins__=builtins,
        __cached__=None,
        __file__=file,
        __loader__=SourceFileLoader("__main__", file),
        __package__=package,
        __spec__=None,
    )
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    # What spawned processes call it; multiprocessing took the old one when it was imported.
    sys.modules["__mp_main__"] = module
    return module.__dict__


def _failed(error: BaseException, rank: int, directory: "Path") -> int:
    """Records the end of the script, unless it is a good one, and returns the exit status."""
    import os
    import time

    from trainera.launch.failures import Failure, is_consequence, write

    moment = time.monotonic()
    kind, status, text = "exception", 1, ""
    if isinstance(error, SystemExit):
        kind = "exit"
        if error.code is None or isinstance(error.code, int):
            status = (error.code or 0) & 0xFF
        else:
            text = str(error.code)
        if status == 0:
            return 0
    else:
        status = 130 if isinstance(error, KeyboardInterrupt) else 1
        text = _traceback(error)
    failure = Failure(
        rank=rank,
        pid=os.getpid(),
        time_s=moment,
        kind=kind,  # type: ignore[arg-type]
        status=status,
        text=text,
        consequence=is_consequence(error),
    )
    try:
        write(failure, directory)
    except OSError:  # the disk is full, say, which may be why the script failed
        print(text, file=sys.__stderr__)
    return status


def _traceback(error: BaseException) -> str:
    """The traceback as Python prints it for the script alone: without the frames of this file."""
    import traceback

    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    error.__traceback__ = frames
    module = getattr(sys.excepthook, "__module__", None) or ""
    # torch's hook puts the rank before every line, that of trainera's runtime unmutes a worker.
    if module.partition(".")[0] not in ("sys", "torch", "trainera"):
        own = _of_hook(error)
        if own.strip():
            return own
    return "".join(traceback.format_exception(type(error), error, frames))


def _of_hook(error: BaseException) -> str:
    """What the script's own ``sys.excepthook`` has to say."""
    import contextlib
    import io

    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.suppress(Exception):
        sys.excepthook(type(error), error, error.__traceback__)
    return said.getvalue()


if __name__ == "__main__":
    sys.exit(main())
