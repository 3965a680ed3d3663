"""Joining the crew: who am I, what do all draw from, who may speak."""

import atexit
import contextlib
import logging
import os
import random
import sys
import traceback
from types import TracebackType
from typing import Any

import tensorflow as tf

from trainera.tf_crew.drawing import connect_draws
from trainera.tf_crew.exchange import HorovodExchange
from trainera.tf_crew.keeping import connect_decisions, connect_files
from trainera.tf_crew.normalising import connect_normalisation
from trainera.tf_crew.reading import connect_weights
from trainera.tf_crew.sameness import SEEN
from trainera.tf_crew.splitting import connect_calls
from trainera.tf_crew.state import CREW


def join_horovod(hvd: Any) -> None:
    """Makes this process a worker of the crew; a world of one if no launcher started it."""
    if CREW.joined:
        return
    CREW.joined = True
    require_keras_2()
    hvd.init()
    CREW.rank, CREW.size = hvd.rank(), hvd.size()
    choose_gpu(hvd.local_rank())
    share_cores(hvd.local_size())
    if CREW.size == 1:
        return
    CREW.exchange = HorovodExchange(hvd)
    connect()
    atexit.register(hvd.shutdown)


def require_keras_2() -> None:
    from keras import __version__ as version

    if not version.startswith("2."):
        raise SystemExit(
            f"trainera: the script was converted for tf.keras 2, and this is Keras {version}: "
            "install tensorflow 2.15, or convert it for another engine"
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
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = int(wish) if wish and wish.isdigit() else max(1, cores // workers)
    with contextlib.suppress(RuntimeError):  # the script has computed already
        tf.config.threading.set_intra_op_parallelism_threads(threads)


def connect() -> None:
    """Puts the crew's seams into Keras, and begins alike."""
    if CREW.rank > 0:
        mute()
    seed_alike()
    connect_weights()
    connect_draws()
    connect_normalisation()
    connect_activity()
    connect_calls()
    connect_files()
    connect_decisions()
    SEEN.variable()


def seed_alike() -> None:
    """What a script draws without a seed is drawn alike by all; a seed of its own comes later."""
    seed = CREW.exchange.told_by_first(random.SystemRandom().randrange(2**31))
    tf.keras.utils.set_random_seed(seed)


def connect_activity() -> None:
    """Has regularisers of outputs see the outputs of the whole batch."""
    from keras.src.engine import base_layer

    plain = base_layer.Layer._handle_activity_regularization

    def regularise(self: Any, inputs: Any, outputs: Any) -> Any:
        region = CREW.region
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
    sys.excepthook = cry_out


def cry_out(kind: type[BaseException], error: BaseException, trace: "TracebackType | None") -> None:
    """Prints what made a muted worker fail where it can be read."""
    real = sys.__stderr__
    if real is not None:
        text = "".join(traceback.format_exception(kind, error, trace))
        with contextlib.suppress(OSError, ValueError):
            real.write(f"[worker {CREW.rank}] {text}")
            real.flush()
