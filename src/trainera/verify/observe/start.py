"""Begins the observation of this process; called by the worker before the script."""

import atexit
import faulthandler
import os
import random
import signal
from pathlib import Path
from typing import Any

from trainera.verify.observe.record import Settings, put
from trainera.verify.observe.streams import redirect


def begin(content: dict[str, Any]) -> None:
    """Puts all hooks in. The script is run afterwards, in this process."""
    settings = Settings(**content)
    rank = int(os.environ.get("RANK") or os.environ.get("HOROVOD_RANK") or 0)
    directory = Path(settings.directory)
    redirect(directory, rank)
    # Where a worker waits is asked for when nothing moves any more.
    faulthandler.register(
        signal.SIGUSR1, file=(directory / f"stack-{rank}").open("w"), all_threads=False
    )
    import numpy
    import torch

    from trainera.launch.journal import Journal
    from trainera.verify.observe import precision
    from trainera.verify.observe.chance import Chance
    from trainera.verify.observe.leaving import Leaving
    from trainera.verify.observe.logs import Logs
    from trainera.verify.observe.record import Recorder
    from trainera.verify.observe.samples import Samples
    from trainera.verify.observe.state import State
    from trainera.verify.observe.steps import Steps

    recorder = Recorder(settings, rank)
    journal = Journal(directory)
    samples = Samples(recorder)
    steps = Steps(recorder, samples)
    state = State(recorder, steps)
    chance = Chance(recorder, samples)
    leaving = Leaving()
    Logs(directory, rank).install()

    random.seed(settings.seed)
    numpy.random.seed(settings.seed)
    torch.manual_seed(settings.seed)
    _without_entropy(settings.seed)
    if not settings.exact:
        _shift_seeds(settings.seed)
    samples.install()
    samples.on_end_of_epoch = state.end_of_epoch
    steps.install()
    state.install()
    journal.watch_torch(torch)
    if settings.exact and not settings.draws_alike:
        chance.install()
    put(torch, "compile", _uncompiled)
    if settings.dtype == "float64":
        precision.install()
    samples.watch_crew()
    journal.install()
    leaving.install()

    owner = os.getpid()

    def end() -> None:
        if os.getpid() != owner:
            return
        state.end()
        if rank == 0:
            chance.save_choices()
        leaving.end()

    atexit.register(end)


def _without_entropy(seed: int) -> None:
    """What would be seeded by the system gets a seed, the same in both runs."""
    import numpy
    import torch

    def torch_seed() -> int:
        return torch.manual_seed(seed).initial_seed()

    put(torch, "seed", torch_seed)
    put(torch.random, "seed", torch_seed)
    original_rng, original_seed = numpy.random.default_rng, random.seed

    def default_rng(given: Any = None) -> Any:
        return original_rng(seed if given is None else given)

    def python_seed(given: Any = None, *args: Any, **options: Any) -> None:
        original_seed(seed if given is None else given, *args, **options)

    put(numpy.random, "default_rng", default_rng)
    put(random, "seed", python_seed)


def _shift_seeds(by: int) -> None:
    """A script that sets its own seed gets another one in every run."""
    import numpy
    import torch

    def shifted(original: Any) -> Any:
        def seed(given: Any, *args: Any, **options: Any) -> Any:
            return original(given + by if isinstance(given, int) else given, *args, **options)

        return seed

    put(torch, "manual_seed", shifted(torch.manual_seed))
    put(random, "seed", shifted(random.seed))
    put(numpy.random, "seed", shifted(numpy.random.seed))


def _uncompiled(model: Any = None, *args: Any, **options: Any) -> Any:
    """Compiled code takes the same steps, but hides its random draws."""
    if model is None:
        return lambda one: one
    return model
