"""Measures one process of a run from within: passes over loaders, phases of a step, memory.

Only calls of the framework are hooked, so the user's script needs no change. What the hooks cost is
measured and told. Loaded by path before anything else, so it imports nothing of trainera.
"""

import atexit
import json
import os
import resource
import sys
import threading
import time
from pathlib import Path

TYPE_CHECKING = False  # `typing` would be imported into every measured process for nothing
if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

FOLDER = "TRAINERA_METER"
"""Where each worker leaves its record."""
PARENT = "TRAINERA_METER_PARENT"
"""The process that started the run."""
ROLE = "TRAINERA_METER_ROLE"
"""``script`` if the process that is started is the script itself, ``workers`` if it starts them."""
JOURNAL = "TRAINERA_METER_JOURNAL"
"""Where files are kept that the run overwrites, if they are to be kept."""
PHASES = "TRAINERA_METER_PHASES"
"""``0`` leaves the phases of a step out."""

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_clock = time.perf_counter


class Pass:
    """One pass over a loader, or all that is done outside of any."""

    def __init__(self, dataset: int, start_s: float) -> None:
        self.dataset = dataset
        self.start_s = start_s
        self.end_s = start_s
        self.samples = 0
        self.batches = 0
        self.steps = 0
        self.over = False
        self.phases_s = {"data": 0.0, "forward": 0.0, "backward": 0.0, "optimizer": 0.0}

    def add(self, phase: str, start_s: float, end_s: float) -> None:
        self.phases_s[phase] += end_s - start_s
        self.end_s = end_s


class Meter:
    """What the hooks write into."""

    def __init__(self) -> None:
        self.passes: list[Pass] = []
        self.current: Pass | None = None
        self.datasets: list[object] = []
        self.depth = 0
        self.inside = ""
        """The phase that is under way, of those in which communication may happen."""
        self.events = 0
        self.inner_calls = 0
        self.thread = threading.get_ident()
        self.synchronise: Callable[[], None] | None = None
        self.journal: Any = None
        self.errors: list[str] = []

    def now(self) -> float:
        if self.synchronise is not None:
            self.synchronise()
        return _clock()

    def began(self, loader: "Any", start_s: float) -> Pass:
        dataset = getattr(loader, "dataset", loader)
        # Kept, so that the address of one is not given to another.
        known = [one for one in self.datasets if one is dataset]
        if not known:
            self.datasets.append(dataset)
        number = next(i for i, one in enumerate(self.datasets) if one is dataset)
        self.current = Pass(number, start_s)
        self.passes.append(self.current)
        return self.current

    def add(self, phase: str, start_s: float) -> None:
        end_s = self.now()
        self.events += 1
        current = self.current
        if current is None or current.over:  # a network that is called without a loader
            current = self.began(None, start_s)
        current.add(phase, start_s, end_s)


def start(load: "Callable[[Path], ModuleType]") -> None:
    """Begins to measure, if this process is one of those that are meant.

    `load` gives modules by their path, for the same reason for which this is loaded so.
    """
    folder, parent = os.environ.get(FOLDER), os.environ.get(PARENT)
    words = " ".join(sys.orig_argv)
    if not folder or "--multiprocessing-fork" in words or "from multiprocessing." in words:
        return
    started_by_bench = parent == str(os.getppid())
    if started_by_bench and sys.platform == "linux":
        import ctypes

        # A killed benchmark leaves no training behind.
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    rank = next((os.environ[n] for n in ("RANK", "HOROVOD_RANK") if n in os.environ), None)
    if os.environ.get(ROLE) == "script":
        if not started_by_bench:
            return
        rank = "0"
    elif rank is None:
        return
    meter = Meter()
    sys.meta_path.insert(0, _AfterImport("torch", lambda torch: _hook_torch(torch, meter)))
    if os.environ.get(JOURNAL):
        journal = load(Path(__file__).absolute().parents[2] / "launch" / "journal.py")
        meter.journal = journal.Journal(Path(os.environ[JOURNAL]))
        meter.journal.install()
    if os.environ.get(PHASES) != "0":
        name = "horovod.torch.mpi_ops"
        sys.meta_path.insert(0, _AfterImport(name, lambda module: _hook_horovod(module, meter)))
    atexit.register(_write, meter, Path(folder) / f"{rank}.json", os.getpid())


class _AfterImport:
    """Calls a function once a module has been imported; finding and loading stay with Python."""

    def __init__(self, name: str, then: "Callable[[ModuleType], None]") -> None:
        self._name = name
        self._then = then

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":
        if name != self._name:
            return None
        sys.meta_path.remove(self)
        from importlib.util import find_spec

        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_hook(module: "ModuleType") -> None:
                execute(module)
                self._then(module)

            spec.loader.exec_module = execute_and_hook  # type: ignore[method-assign]
        return spec


def _hook_torch(torch: "Any", meter: Meter) -> None:
    try:
        if meter.journal is not None:
            meter.journal.watch_torch(torch)
        _hook_loaders(torch, meter)
        _hook_optimizers(torch, meter, timed=os.environ.get(PHASES) != "0")
        if os.environ.get(PHASES) != "0":
            _hook_networks(torch, meter)
        if torch.cuda.is_available():
            meter.synchronise = lambda: _synchronise(torch)
    except Exception as error:  # a torch that is built otherwise must not stop the script
        meter.errors.append(f"{type(error).__name__}: {error}")


def _synchronise(torch: "Any") -> None:
    """GPUs work on while Python goes ahead; a phase ends when its work is done."""
    if torch.cuda.is_initialized():
        torch.cuda.synchronize()


def _hook_loaders(torch: "Any", meter: Meter) -> None:
    from torch.utils.data import dataloader

    loader_class, iterator_class = dataloader.DataLoader, dataloader._BaseDataLoaderIter
    begin, advance = loader_class.__iter__, iterator_class.__next__

    def hooked_iter(loader: "Any") -> "Any":
        start_s = _clock()
        iterator: Any = begin(loader)
        iterator._trainera_begun = (loader, start_s)
        iterator._trainera_pass = None
        return iterator

    def hooked_next(iterator: "Any") -> "Any":
        if threading.get_ident() != meter.thread:
            return advance(iterator)
        start_s = meter.now()
        meter.events += 1
        own = getattr(iterator, "_trainera_pass", None)
        if own is None:
            loader, begun_s = getattr(iterator, "_trainera_begun", (iterator, start_s))
            own = iterator._trainera_pass = meter.began(loader, begun_s)
            start_s = begun_s
        meter.current = own
        try:
            batch = advance(iterator)
        except StopIteration:
            own.add("data", start_s, _clock())
            own.over = True
            iterator._trainera_pass = None
            raise
        own.add("data", start_s, _clock())
        own.batches += 1
        own.samples += _rows(torch, batch)
        return batch

    loader_class.__iter__ = hooked_iter  # type: ignore[method-assign]
    iterator_class.__next__ = hooked_next  # type: ignore[method-assign, assignment]


def _hook_optimizers(torch: "Any", meter: Meter, *, timed: bool) -> None:
    from torch.optim.optimizer import (
        register_optimizer_step_post_hook,
        register_optimizer_step_pre_hook,
    )

    begun_s: list[float] = []

    def before(*_: object) -> None:
        begun_s.append(meter.now() if timed else 0.0)
        meter.inside = "optimizer"

    def after(*_: object) -> None:
        start_s = begun_s.pop()
        if begun_s:  # a step within a step, of a wrapper around an optimizer
            return
        meter.inside = ""
        if timed:
            meter.add("optimizer", start_s)
        if meter.current is not None:
            meter.current.steps += 1
            meter.current.end_s = _clock()

    register_optimizer_step_pre_hook(before)
    register_optimizer_step_post_hook(after)


def _hook_networks(torch: "Any", meter: Meter) -> None:
    call, backward = torch.nn.Module.__call__, torch.autograd.backward

    def hooked_call(module: "Any", *arguments: "Any", **options: "Any") -> "Any":
        if meter.depth or threading.get_ident() != meter.thread:
            meter.inner_calls += 1
            return call(module, *arguments, **options)
        meter.depth = 1
        start_s = meter.now()
        try:
            return call(module, *arguments, **options)
        finally:
            meter.depth = 0
            meter.add("forward", start_s)

    def hooked_backward(*arguments: "Any", **options: "Any") -> "Any":
        start_s = meter.now()
        meter.inside = "backward"
        try:
            return backward(*arguments, **options)
        finally:
            meter.inside = ""
            meter.add("backward", start_s)

    torch.nn.Module.__call__ = hooked_call
    torch.autograd.backward = hooked_backward


def _hook_horovod(operations: "Any", meter: Meter) -> None:
    """Horovod waits for gradients when the optimizer steps; DDP does within backward.

    So that the phases of both can be compared, the wait counts as backward wherever it is.
    """
    synchronize = operations.synchronize

    def hooked_synchronize(*arguments: "Any", **options: "Any") -> "Any":
        start_s = _clock()
        try:
            return synchronize(*arguments, **options)
        finally:
            current, waited_s = meter.current, _clock() - start_s
            meter.events += 1
            if current is not None and not current.over and meter.inside != "backward":
                current.phases_s["backward"] += waited_s
                if meter.inside == "optimizer":
                    current.phases_s["optimizer"] -= waited_s

    operations.synchronize = hooked_synchronize


def _rows(torch: "Any", batch: "Any") -> int:
    """The number of samples in a batch: the length of the first tensor that is found."""
    if isinstance(batch, torch.Tensor):
        return int(batch.shape[0]) if batch.dim() else 1
    if isinstance(batch, dict):
        batch = list(batch.values())
    if isinstance(batch, (list, tuple)):
        return next((rows for one in batch if (rows := _rows(torch, one))), 0)
    return 0


def _cost_s(meter: Meter) -> float:
    """What the hooks have cost: how often they were called times what a call costs here, now."""
    trial, rounds = Meter(), 2000
    trial.began(None, _clock())
    start_s = _clock()
    for _ in range(rounds):
        trial.add("forward", trial.now())
    per_event_s = (_clock() - start_s) / rounds
    return meter.events * per_event_s + meter.inner_calls * per_event_s / 5


def _write(meter: Meter, path: Path, pid: int) -> None:
    if os.getpid() != pid:  # a process that the script forked
        return
    unit = 1 if sys.platform == "darwin" else 1024
    torch = sys.modules.get("torch")
    gpus: dict[int, int] = {}
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        for gpu in range(torch.cuda.device_count()):
            if most := torch.cuda.max_memory_allocated(gpu):
                gpus[gpu] = most
    record = {
        "passes": [
            {
                "dataset": one.dataset,
                "start_s": one.start_s,
                "end_s": one.end_s,
                "samples": one.samples,
                "steps": one.steps,
                "phases_s": one.phases_s,
            }
            for one in meter.passes
        ],
        "meter_s": _cost_s(meter),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
        "gpus": gpus,
        "errors": meter.errors,
    }
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record))
    new.replace(path)
