"""Joining the crew: process group, device, threads, seeds, and who may speak."""

import atexit
import contextlib
import logging
import multiprocessing
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Callable
from types import TracebackType
from typing import NoReturn

import torch
import torch.distributed as dist
from torch._C import _distributed_c10d as native

from trainera.crew.checking import watch_steps
from trainera.crew.groups import start_alone, start_machine, start_timed
from trainera.crew.shares import AUTO, SHARES, SHARES_VARIABLE
from trainera.crew.state import CREW, REFUSED
from trainera.crew.streams import STREAMS
from trainera.crew.transport import settle
from trainera.crew.wire import broadcast_object


def join() -> None:
    """Makes this process a worker of the crew; a world of one if no launcher started it."""
    enter(CREW.read_environment, start_process_group)


def enter(find_place: Callable[[], None], start: Callable[[], None]) -> None:
    """What is the same for every engine: who am I, what is mine, and what do we share.

    `find_place` asks the launcher for this worker's rank, `start` makes the collectives work.
    """
    if CREW.joined:
        return
    CREW.joined = True
    if multiprocessing.parent_process() is not None:
        # A process that a worker started, say to load data: it is not a worker.
        if launched_rank() > 0:
            mute()
        return
    find_place()
    if CREW.rank > 0:
        mute()
    choose_device()
    choose_threads()
    start()
    take_shares()
    watch_steps()
    if CREW.size > 1:
        STREAMS.synchronise()
        # The own streams are seeded when the first pass begins, after the script set its seed.
        STREAMS.seeded = False


def take_shares() -> None:
    """The shares that the first worker was told: where they differ all would wait for ever."""
    words = os.environ.get(SHARES_VARIABLE, "")
    SHARES.take(broadcast_object(words) if CREW.size > 1 else words, CREW.size)
    if SHARES.auto and torch.cuda.is_available():
        raise SystemExit(
            f"trainera: {SHARES_VARIABLE}={words}: only what CPUs compute is measured so far: give "
            'shares for the GPUs, such as 2:1, or hide them with CUDA_VISIBLE_DEVICES=""'
        )


def launched_rank() -> int:
    """The rank that the environment tells, in the words of torchrun or of Horovod's launcher."""
    names = ("RANK", "HOROVOD_RANK", "TRAINERA_RANK")
    return next((int(os.environ[name]) for name in names if os.environ.get(name)), 0)


def forget_launcher() -> None:
    """Takes away what the launcher has told the script, which knows nothing of other workers."""
    os.environ["TRAINERA_RANK"] = str(launched_rank())  # processes that load data are told by it
    for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"):
        os.environ.pop(name, None)


def no_own_workers(function: Callable[..., object], *_: object, **__: object) -> NoReturn:
    """Ends the run where the script would make workers of its own: it is one of several already."""
    caller = sys._getframe(1)
    if CREW.rank == 0:
        name = getattr(function, "__name__", type(function).__name__)
        print(
            f"trainera: {caller.f_code.co_filename}:{caller.f_lineno}: {name}() would make this "
            "script one of several workers by its own means, and it is one by trainera's: leave "
            "out the option that asks for it, or launch the script that was converted",
            file=sys.stderr,
            flush=True,
        )
    raise SystemExit(REFUSED)


def leave() -> None:
    """Ends the process group at exit, without waiting for workers that may be gone."""
    settle()
    if dist.is_initialized():
        with contextlib.suppress(Exception):
            dist.destroy_process_group()


def start_process_group() -> None:
    """Initialises torch.distributed as the launcher says."""
    # Since torch 2.13 the argument has another name, which older versions do not know.
    warnings.filterwarnings("ignore", "`broadcast_buffers` is deprecated", FutureWarning)
    # The flag is set wherever layers may go without gradients; that they do not is no news.
    warnings.filterwarnings("ignore", "find_unused_parameters=True was specified")
    if dist.is_initialized():
        return
    atexit.register(leave)
    if CREW.size == 1:
        if not hasattr(dist.Backend, "ALONE"):
            dist.Backend.register_backend("alone", start_alone, devices=["cpu", "cuda"])
        dist.init_process_group("alone", store=native.HashStore(), rank=0, world_size=1)
        return
    dist.init_process_group(choose_backend())


def choose_backend() -> str:
    """What carries the messages: shared memory where all workers compute on one machine."""
    if torch.cuda.is_available():
        return "cpu:gloo,cuda:nccl"
    if CREW.local_size < CREW.size or os.environ.get("TRAINERA_BACKEND") == "gloo":
        if os.environ.get(SHARES_VARIABLE) != AUTO:
            return "gloo"
        if not hasattr(dist.Backend, "TIMED"):
            dist.Backend.register_backend("timed", start_timed, devices=["cpu"])
        return "timed"
    if not hasattr(dist.Backend, "MACHINE"):
        dist.Backend.register_backend("machine", start_machine, devices=["cpu"])
    return "machine"


def choose_device() -> None:
    """Makes the worker's own GPU the current one, so that "cuda" means it."""
    if CREW.size == 1 or not torch.cuda.is_available():
        return
    devices = torch.cuda.device_count()
    if devices < CREW.local_size:
        raise RuntimeError(
            f"{CREW.local_size} workers on a machine with {devices} GPUs: start at most {devices} "
            'workers here, or hide the GPUs with CUDA_VISIBLE_DEVICES="" to train on the CPU'
        )
    torch.cuda.set_device(CREW.local_rank)
    torch.cuda.init()  # type: ignore[no-untyped-call]


def own_device() -> list[int] | None:
    """This worker's GPU, in the form in which DataParallel takes it; None without one."""
    return [torch.cuda.current_device()] if torch.cuda.is_available() else None


def choose_threads() -> None:
    """Shares the cores among the workers of this machine; more threads than cores are slow."""
    if CREW.local_size == 1:
        return
    wish = os.environ.get("OMP_NUM_THREADS")
    # torchrun sets it to 1 when the user has not, which leaves most cores idle.
    by_torchrun = (
        wish == "1" and "TORCHELASTIC_RUN_ID" in os.environ and "TRAINERA_THREADS" not in os.environ
    )
    if wish is not None and not by_torchrun:
        return
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    else:
        cores = os.cpu_count() or 1
    torch.set_num_threads(max(1, cores // CREW.local_size))


def mute() -> None:
    """Silences this worker, so that what the script prints is printed once; but not failures."""
    speakers = (sys.stdout, sys.stderr)
    sink = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123 (open to the end)
    sys.stdout = sys.stderr = sink
    loggers = [logging.root, *logging.root.manager.loggerDict.values()]
    for logger in loggers:
        for handler in getattr(logger, "handlers", ()):
            if isinstance(handler, logging.StreamHandler) and handler.stream in speakers:
                handler.setStream(sink)
    sys.excepthook = cry_out
    threading.excepthook = cry_out_of_thread


def cry_out(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Prints what made a muted worker fail where it can be read."""
    real = sys.__stderr__
    if real is None:
        return
    lines = traceback.format_exception(kind, error, trace)
    text = f"[worker {launched_rank()}] " + "".join(lines)
    with contextlib.suppress(OSError, ValueError):
        real.write(text)
        real.flush()


def cry_out_of_thread(arguments: threading.ExceptHookArgs) -> None:
    """The same for a thread of a muted worker."""
    if arguments.exc_value is not None and arguments.exc_type is not SystemExit:
        cry_out(arguments.exc_type, arguments.exc_value, arguments.exc_traceback)
