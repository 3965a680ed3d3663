"""Observes a process that trains with Keras; `begin` is called in it before the script is run.

The script itself chooses Keras's backend before it imports Keras, so the hooks are put in when that
import is done.
"""

import atexit
import faulthandler
import os
import random
import signal
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from trainera.launch.journal import Journal
from trainera.verify.observe.keras.imports import after_import
from trainera.verify.observe.logs import Logs
from trainera.verify.observe.record import Recorder, Settings, put
from trainera.verify.observe.streams import redirect


def begin(content: dict[str, Any]) -> None:
    """Prepares the process; everything else waits for Keras."""
    settings = Settings(**content)
    rank = int(os.environ.get("RANK") or os.environ.get("HOROVOD_RANK") or 0)
    directory = Path(settings.directory)
    redirect(directory, rank)
    faulthandler.register(
        signal.SIGUSR1, file=(directory / f"stack-{rank}").open("w"), all_threads=False
    )
    recorder = Recorder(settings, rank)
    journal = Journal(directory)
    Logs(directory, rank).install()
    random.seed(settings.seed)
    _seeds_of_the_system(settings.seed)
    after_import(("h5py",), lambda: journal.watch_h5py(sys.modules["h5py"]))
    if _is_keras_2():
        after_import(("tensorflow", "keras"), lambda: _hook_tensorflow(recorder, journal))
    else:
        if settings.dtype == "float64":
            os.environ["JAX_ENABLE_X64"] = "1"
        after_import(("keras",), lambda: _hook_jax(recorder))
    journal.install()


def _is_keras_2() -> bool:
    try:
        return version("keras").startswith("2.")
    except PackageNotFoundError:
        return False


def _hook_jax(recorder: Recorder) -> None:
    import keras

    if keras.backend.backend() != "jax":
        raise SystemExit(
            "trainera verify looks into Keras 3 on JAX and into tf.keras 2, and this is Keras 3 on "
            f"{keras.backend.backend()}: compare what `trainera run` prints and saves"
        )

    from trainera.verify.observe.keras.networks import Networks
    from trainera.verify.observe.keras.precision import widen
    from trainera.verify.observe.keras.steps import Steps

    keras.utils.set_random_seed(recorder.settings.seed)
    if recorder.settings.dtype == "float64":
        widen()
    networks = Networks(recorder)
    steps = Steps(recorder, networks)
    networks.install()
    steps.install()
    _at_the_end(steps.flush, networks.end)


def _hook_tensorflow(recorder: Recorder, journal: Journal) -> None:
    import keras

    from trainera.verify.observe.keras.networks import Networks
    from trainera.verify.observe.tf_keras.chance import watch_chance
    from trainera.verify.observe.tf_keras.files import watch_files
    from trainera.verify.observe.tf_keras.precision import widen
    from trainera.verify.observe.tf_keras.steps import Steps

    keras.utils.set_random_seed(recorder.settings.seed)
    if recorder.settings.dtype == "float64":
        widen()
    networks = Networks(recorder)
    networks.install()
    Steps(recorder, networks).install()
    watch_chance(recorder)
    watch_files(recorder, journal)
    _at_the_end(networks.end)


def _at_the_end(*acts: Any) -> None:
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            for act in acts:
                act()

    atexit.register(end)


def _seeds_of_the_system(seed: int) -> None:
    """What would be seeded by the system gets a seed, the same in both runs."""
    import numpy

    numpy.random.seed(seed)
    original = numpy.random.default_rng

    def default_rng(given: Any = None) -> Any:
        return original(seed if given is None else given)

    class SystemRandom(random.SystemRandom):
        """Whose first word is the seed."""

        def randrange(self, *args: Any, **options: Any) -> int:
            return seed

    put(numpy.random, "default_rng", default_rng)
    put(random, "SystemRandom", SystemRandom)
