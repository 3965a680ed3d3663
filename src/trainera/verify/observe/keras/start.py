"""Observes a process that trains with Keras; `begin` is called in it before the script is run.

The script itself chooses Keras's backend before it imports Keras, so the hooks are put in when that
import is done.
"""

import atexit
import faulthandler
import importlib.abc
import os
import random
import signal
import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any

from trainera.launch.journal import Journal
from trainera.verify.observe.logs import Logs
from trainera.verify.observe.record import Recorder, Settings, put
from trainera.verify.observe.streams import redirect


def begin(content: dict[str, Any]) -> None:
    """Prepares the process; everything else waits for Keras."""
    settings = Settings(**content)
    rank = int(os.environ.get("RANK") or 0)
    directory = Path(settings.directory)
    redirect(directory, rank)
    faulthandler.register(
        signal.SIGUSR1, file=(directory / f"stack-{rank}").open("w"), all_threads=False
    )
    if settings.dtype == "float64":
        os.environ["JAX_ENABLE_X64"] = "1"
    recorder = Recorder(settings, rank)
    journal = Journal(directory)
    Logs(directory, rank).install()
    random.seed(settings.seed)
    _numpy_seeds(settings.seed)
    sys.meta_path.insert(0, AfterImport("h5py", lambda: journal.watch_h5py(sys.modules["h5py"])))
    sys.meta_path.insert(0, AfterImport("keras", lambda: _hook(recorder)))
    journal.install()


def _hook(recorder: Recorder) -> None:
    import keras

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
    owner = os.getpid()

    def end() -> None:
        if os.getpid() == owner:
            steps.flush()
            networks.end()

    atexit.register(end)


def _numpy_seeds(seed: int) -> None:
    """What would be seeded by the system gets a seed, the same in both runs."""
    import numpy

    numpy.random.seed(seed)
    original = numpy.random.default_rng

    def default_rng(given: Any = None) -> Any:
        return original(seed if given is None else given)

    put(numpy.random, "default_rng", default_rng)


class AfterImport(importlib.abc.MetaPathFinder):
    """Calls something once a package has been imported."""

    def __init__(self, name: str, then: Any) -> None:
        self._name = name
        self._then = then

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Then(spec.loader, self._then)
        return spec


class _Then(importlib.abc.Loader):
    def __init__(self, loader: Any, then: Any) -> None:
        self._loader = loader
        self._then = then

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        self._loader.exec_module(module)
        self._then()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
