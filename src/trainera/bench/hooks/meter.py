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

FRAMEWORKS = ("torch", "keras")
"""Each with a file of its own here, `of_…`, that is loaded once the script has imported it."""

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_clock = time.perf_counter


class Pass:
    """One pass over a loader, or all that is done outside of any."""

    def __init__(self, dataset: int, start_s: float) -> None:
        self.dataset = dataset
        self.start_s = start_s
        self.end_s = start_s
        self.samples = 0
        self.steps = 0
        self.over = False
        self.phases_s: dict[str, float] = {}
        self.figures: dict[str, float] = {}
        """What the framework itself knows of how well was learned, by name."""

    def add(self, phase: str, seconds: float) -> None:
        self.phases_s[phase] = self.phases_s.get(phase, 0.0) + seconds


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
        self.timed = os.environ.get(PHASES) != "0"
        """Whether the phases of a step are wanted."""
        self.suspended = False
        """Whether another framework is at work, whose batches may come from this one's loaders."""
        self.whole = False
        """Whether every worker is given the whole batch, and counts all of its samples."""
        self.gpu_memory: list[Callable[[], dict[int, int]]] = []
        self.synchronise: Callable[[], None] | None = None
        self.journal: Any = None
        self.errors: list[str] = []

    @property
    def ignores(self) -> bool:
        """Whether what happens now is not to be noted."""
        return self.suspended or threading.get_ident() != self.thread

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

    @classmethod
    def rows(cls, batch: "Any") -> int:
        """The number of samples in a batch: the length of the first array that is found."""
        shape = getattr(batch, "shape", None)
        if shape is not None:
            return int(shape[0]) if len(shape) else 1
        if isinstance(batch, dict):
            batch = list(batch.values())
        if isinstance(batch, (list, tuple)):
            return next((rows for one in batch if (rows := cls.rows(one))), 0)
        return 0

    def add(self, phase: str, start_s: float) -> None:
        end_s = self.now()
        self.events += 1
        current = self.current
        if current is None or current.over:  # a network that is called without a loader
            current = self.began(None, start_s)
        current.add(phase, end_s - start_s)
        current.end_s = end_s


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
    here = Path(__file__).absolute()
    for framework in FRAMEWORKS:
        place = here.with_name(f"of_{framework}.py")
        _hook_after_import(framework, place, load, meter)
    if os.environ.get(JOURNAL):
        journal = load(here.parents[2] / "launch" / "journal.py")
        meter.journal = journal.Journal(Path(os.environ[JOURNAL]))
        meter.journal.install()
        _after_import("h5py", meter.journal.watch_h5py)
    atexit.register(_write, meter, Path(folder) / f"{rank}.json", os.getpid())


def _hook_after_import(
    framework: str, place: Path, load: "Callable[[Path], ModuleType]", meter: Meter
) -> None:
    def hook(module: "ModuleType") -> None:
        try:
            load(place).hook(module, meter, _after_import)
        except Exception as error:  # a framework that is built otherwise must not stop the script
            meter.errors.append(f"{type(error).__name__}: {error}")

    _after_import(framework, hook)


def _after_import(name: str, then: "Callable[[ModuleType], None]") -> None:
    sys.meta_path.insert(0, _AfterImport(name, then))


class _AfterImport:
    """Calls a function once a module has been imported; finding and loading stay with Python."""

    def __init__(self, name: str, then: "Callable[[ModuleType], None]") -> None:
        self._name = name
        self._then = then
        self._asking = False

    def find_spec(self, name: str, path: "Any" = None, target: "Any" = None) -> "ModuleSpec | None":
        if name != self._name or self._asking:
            return None
        from importlib.util import find_spec

        self._asking = True  # the others, who find it; and a script may only ask if it is there
        try:
            spec = find_spec(name)
        finally:
            self._asking = False
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_hook(module: "ModuleType") -> None:
                sys.meta_path.remove(self)
                execute(module)
                self._then(module)

            spec.loader.exec_module = execute_and_hook  # type: ignore[method-assign]
        return spec


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
    gpus: dict[int, int] = {}
    for peaks in meter.gpu_memory:
        gpus |= peaks()
    record = {
        "passes": [
            {
                "dataset": one.dataset,
                "start_s": one.start_s,
                "end_s": one.end_s,
                "samples": one.samples,
                "steps": one.steps,
                "phases_s": one.phases_s if meter.timed else {},
                "figures": one.figures,
            }
            for one in meter.passes
        ],
        "meter_s": _cost_s(meter),
        "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit,
        "whole": meter.whole,
        "gpus": gpus,
        "errors": meter.errors,
    }
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record))
    new.replace(path)
