"""Joining the crew: who am I, what do all draw from, who may speak."""

import atexit
import contextlib
import logging
import os
import random
import sys
import traceback
from collections.abc import Iterator
from types import TracebackType

import jax
import keras
from jax.experimental import multihost_utils

from trainera.jax_crew.exchange import Exchange
from trainera.jax_crew.keeping import connect_epochs, connect_files
from trainera.jax_crew.sameness import compare_processes
from trainera.jax_crew.state import CREW, processes_begun


def join_processes() -> None:
    """Makes this process one of several on which JAX computes; a world of one if none began it.

    A process is told by JAX_COORDINATOR_ADDRESS, JAX_NUM_PROCESSES and JAX_PROCESS_ID who it is, or
    by Slurm or Open MPI.
    """
    if CREW.joined or processes_begun() < 2:
        return
    if "PYTHONHASHSEED" not in os.environ:  # sets of texts would be in another order on each
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, sys.orig_argv)
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    with quiet():
        if "JAX_NUM_PROCESSES" in os.environ:
            jax.distributed.initialize(
                num_processes=processes_begun(), process_id=int(os.environ["JAX_PROCESS_ID"])
            )
        else:
            jax.distributed.initialize()
        multihost_utils.sync_global_devices("trainera")  # the devices meet, which is told aloud
    CREW.joined, CREW.rank, CREW.size = True, jax.process_index(), jax.process_count()
    CREW.exchange = Exchange(CREW.rank, CREW.size)
    watch_for_failure()
    if CREW.rank > 0:
        mute()
    seed = CREW.exchange.told_by_first(random.SystemRandom().randrange(2**31))
    keras.utils.set_random_seed(seed)  # what a script draws without a seed; its own comes later
    connect_files()
    connect_epochs()
    atexit.register(leave)


@contextlib.contextmanager
def quiet() -> "Iterator[None]":
    """The time in which a library speaks into standard output, which is the script's."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def leave() -> None:
    """The end of a process; after a failure nobody is waited for."""
    if CREW.failed:
        return
    try:
        compare_processes()
    except SystemExit as error:
        print(error, file=sys.__stderr__, flush=True)
        os._exit(1)  # an exception would be printed here, and the status stay 0
    jax.distributed.shutdown()


def mute() -> None:
    """Silences this process, so that what the script prints is printed once; but not failures."""
    speakers = (sys.stdout, sys.stderr)
    sink = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (open to the end)
    sys.stdout = sys.stderr = sink
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        for handler in getattr(logger, "handlers", ()):
            if isinstance(handler, logging.StreamHandler) and handler.stream in speakers:
                handler.setStream(sink)


def watch_for_failure() -> None:
    """A process that fails says so, also if it is muted, and waits for nobody at its end."""
    plain = sys.excepthook

    def failed(
        kind: type[BaseException], error: BaseException, trace: "TracebackType | None"
    ) -> None:
        CREW.failed = True
        if CREW.rank == 0:
            plain(kind, error, trace)
            return
        text = "".join(traceback.format_exception(kind, error, trace))
        with contextlib.suppress(OSError, ValueError, AttributeError):
            sys.__stderr__.write(f"[process {CREW.rank}] {text}")  # type: ignore[union-attr]
            sys.__stderr__.flush()  # type: ignore[union-attr]

    sys.excepthook = failed
