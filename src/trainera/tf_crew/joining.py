"""Joining the crew: who am I, what do all draw from, who may speak."""

import atexit
import contextlib
import json
import logging
import os
import random
import sys
import traceback
from types import TracebackType
from typing import Any

import tensorflow as tf

from trainera.tf_crew.collectives import StrategyExchange
from trainera.tf_crew.drawing import connect_draws
from trainera.tf_crew.exchange import HorovodExchange
from trainera.tf_crew.keeping import connect_decisions, connect_files
from trainera.tf_crew.losses import connect_losses
from trainera.tf_crew.normalising import connect_normalisation
from trainera.tf_crew.reading import connect_weights
from trainera.tf_crew.sameness import SEEN, compare_workers
from trainera.tf_crew.splitting import connect_calls
from trainera.tf_crew.state import CREW
from trainera.tf_crew.trial_chance import connect_building


def join_horovod(hvd: Any) -> None:
    """Makes this process a worker of a crew on Horovod; a world of one if none started it."""
    if CREW.joined:
        return
    require_keras_2()
    hash_alike(int(os.environ.get("HOROVOD_SIZE", "1")))
    hvd.init()
    choose_gpu(hvd.local_rank())
    share_cores(hvd.local_size())
    join(hvd.rank(), hvd.size(), HorovodExchange(hvd))


def join_strategy(strategy: Any) -> None:
    """The same on the cluster that TF_CONFIG tells of; a world of one without it."""
    if CREW.joined:
        return
    require_keras_2()
    task = json.loads(os.environ.get("TF_CONFIG") or "{}")
    workers = task.get("cluster", {}).get("worker", [])
    hosts = [address.rpartition(":")[0] for address in workers]
    rank = int(task.get("task", {}).get("index", 0))
    hash_alike(len(workers))
    here = [one for one, host in enumerate(hosts) if host == hosts[rank]] or [0]
    choose_gpu(here.index(rank))
    share_cores(len(here))
    if len(workers) > 1:
        CREW.strategy = strategy()  # starts the server by which the workers reach each other
    join(rank, max(len(workers), 1), StrategyExchange())


def join(rank: int, size: int, exchange: Any) -> None:
    """What is the same however workers reach each other."""
    CREW.joined, CREW.rank, CREW.size = True, rank, size
    if size > 1:
        CREW.exchange = exchange
        connect()
        atexit.register(leave)


def leave() -> None:
    """The end of a worker; after a failure nobody is waited for."""
    if CREW.failed:
        return
    try:
        compare_workers()
    except SystemExit as error:
        print(error, file=sys.__stderr__, flush=True)
        os._exit(1)  # an exception would be printed here, and the status stay 0
    CREW.exchange.leave()


def hash_alike(workers: int) -> None:
    """Begins again where sets of texts would be in another order on each worker."""
    if workers > 1 and "PYTHONHASHSEED" not in os.environ:
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, sys.orig_argv)


def require_keras_2() -> None:
    from keras import __version__ as version

    if not version.startswith("2."):
        raise SystemExit(
            f"trainera: the script was converted for tf.keras 2, and this is Keras {version}: "
            "convert it with --engine mirrored, which knows both lines, or install tensorflow 2.15"
        )


def choose_gpu(number: int) -> None:
    """One GPU a worker, whose memory is taken as it is needed."""
    devices = tf.config.list_physical_devices("GPU")
    if devices:
        mine = devices[number % len(devices)]
        tf.config.experimental.set_memory_growth(mine, True)
        tf.config.set_visible_devices(mine, "GPU")


def share_cores(workers: int) -> None:
    """Threads for this worker's part of the cores, unless the user says how many."""
    wish = os.environ.get("OMP_NUM_THREADS")
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    threads = int(wish) if wish and wish.isdigit() else max(1, cores // workers)
    with contextlib.suppress(RuntimeError):  # the script has computed already
        tf.config.threading.set_intra_op_parallelism_threads(threads)


def connect() -> None:
    """Puts the crew's seams into Keras, and begins alike."""
    watch_for_failure()
    if CREW.rank > 0:
        mute()
    seed_alike()
    SEEN.begin()
    connect_weights()
    connect_draws()
    connect_building()
    connect_normalisation()
    connect_activity()
    connect_calls()
    connect_losses()
    connect_files()
    connect_decisions()


def seed_alike() -> None:
    """What a script draws without a seed is drawn alike by all; a seed of its own comes later."""
    seed = CREW.exchange.told_by_first(random.SystemRandom().randrange(2**31))
    tf.keras.utils.set_random_seed(seed)


def connect_activity() -> None:
    """Has regularisers of outputs see the outputs of the whole batch."""
    from keras.src.engine import base_layer

    plain = base_layer.Layer._handle_activity_regularization

    def regularise(self: Any, inputs: Any, outputs: Any) -> Any:
        region = CREW.here.region
        if region is not None and self._activity_regularizer:
            outputs = tf.nest.map_structure(region.gather, outputs)
        return plain(self, inputs, outputs)

    base_layer.Layer._handle_activity_regularization = regularise


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


def watch_for_failure() -> None:
    """A worker that fails says so, also if it is muted, and waits for nobody at its end."""
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
            sys.__stderr__.write(f"[worker {CREW.rank}] {text}")  # type: ignore[union-attr]
            sys.__stderr__.flush()  # type: ignore[union-attr]

    sys.excepthook = failed
