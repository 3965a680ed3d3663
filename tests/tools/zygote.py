"""Starts training scripts fast: a process that has imported a framework forks the workers.

Importing torch takes seconds on a small machine, Keras more, and the corpora run hundreds of
processes. `python zygote.py MODULE…` imports these; what is not there is left out. Apart from the
imports nothing is shared: every worker is a process of its own, with the environment that a
launcher gives it, its own working directory, output files and exit status.

Speaks JSON lines on stdin and stdout. Ends, with all its workers, when stdin closes.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import time
from pathlib import Path


def work(job: dict, rank: int) -> None:
    """One worker, from fork to exit."""
    os.setpgid(0, 0)
    os.chdir(job["cwd"])
    for stream, name in ((1, "out"), (2, "err")):
        path = f"{job['logs']}.{rank}.{name}"
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
    os.environ.update(job["env"] | job["places"][rank])
    for name in job["hidden"]:
        sys.modules[name] = None  # type: ignore[assignment]  # importing it fails
    sys.argv = [job["script"], *job["arguments"]]
    sys.path[0] = str(Path(job["script"]).parent)
    if job.get("observer"):
        importlib.import_module(job["observing"]).begin(job["observer"])
    status = 0
    try:
        # As under `python train.py`, what the script made is there until all is done.
        kept = runpy.run_path(job["script"], run_name="__main__")
        assert kept
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # a muted worker's goes to the real stderr
        status = 1
    finish(status)


def finish(status: int) -> None:
    """What the interpreter does at its end; a forked child would skip it."""
    import atexit

    with contextlib.suppress(BaseException):
        atexit._run_exitfuncs()
    for stream in (sys.__stdout__, sys.__stderr__, sys.stdout, sys.stderr):
        with contextlib.suppress(Exception):
            stream.flush()
    os._exit(status)


def serve(job: dict) -> list[int | None]:
    """Runs a job's workers; a worker that is not done in time is killed and has no status."""
    children = {}
    for rank in range(len(job["places"])):
        pid = os.fork()
        if pid == 0:
            work(job, rank)
        children[pid] = rank
    statuses: list[int | None] = [None] * len(job["places"])
    deadline = time.monotonic() + job["timeout"]
    while children and time.monotonic() < deadline:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            time.sleep(0.002)
            continue
        rank = children.pop(pid, None)
        if rank is not None:
            statuses[rank] = os.waitstatus_to_exitcode(status)
            if statuses[rank] != 0:
                deadline = min(deadline, time.monotonic() + 5)
    for pid in children:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return statuses


def main() -> None:
    for name in sys.argv[1:]:
        with contextlib.suppress(ImportError):  # only some scripts want them
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # else each child goes through all of that, and copies it
    real = os.fdopen(os.dup(1), "w")
    print("ready", file=real, flush=True)
    for line in sys.stdin:
        print(json.dumps(serve(json.loads(line))), file=real, flush=True)


if __name__ == "__main__":
    main()
