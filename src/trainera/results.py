"""What one run gave: plain frozen data, stored as JSON, from which all figures are made."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Kind = Literal["timed", "energy", "warm-up"]
State = Literal["done", "failed", "refused"]
Source = Literal["measured", "estimated"]
Part = Literal["cpu", "memory", "gpu"]


@dataclass(frozen=True, kw_only=True)
class Epoch:
    """One pass over the training data and what followed it."""

    train_s: float
    validation_s: float | None = None
    metric: float | None = None
    """Accuracy or perplexity after this epoch."""


@dataclass(frozen=True, kw_only=True)
class DeviceEnergy:
    """What one device of the machine used during a run. It is listed once, whoever used it."""

    device: str
    part: Part
    energy_j: float
    source: Source
    used: bool = True
    """False for a GPU that the run did not touch but that drew power all the same."""


@dataclass(frozen=True, kw_only=True)
class Power:
    """Power over time; one series a device."""

    interval_s: float
    devices: Mapping[str, tuple[float, ...]]


@dataclass(frozen=True, kw_only=True)
class Result:
    """Everything that is known of one run."""

    workload: str
    strategy: str
    workers: int
    framework: str = ""
    """What the script is written for, in words."""
    task: str = ""
    """What workloads in several frameworks have in common."""
    kind: Kind = "timed"
    state: State = "done"
    message: str = ""
    """Why it failed or was refused; what could not be measured."""
    setting: Mapping[str, str] = field(default_factory=dict)
    """The levels of the other factors."""
    block: int = 0
    """Runs of one block were made one after the other and are compared with each other."""
    data: str = ""
    """``real`` or ``generated``, where the script says so."""
    batch: str = "global"
    another: str = ""
    """Why this is another training than the script's by nature, if it is."""
    wall_s: float | None = None
    """From the start of the first process to the end of the last."""
    total_s: float | None = None
    """Training, validation and test, without start-up and loading."""
    train_s: float | None = None
    validation_s: float | None = None
    test_s: float | None = None
    epochs: tuple[Epoch, ...] = ()
    phases_s: Mapping[str, float] = field(default_factory=dict)
    """Time within training steps: data, forward, backward with communication, optimizer, other; of
    Keras data, compile, step, other."""
    meter_s: float | None = None
    """What the hooks that measured the phases cost."""
    samples: int | None = None
    """Samples trained on, all workers together."""
    peak_memory_bytes: tuple[int, ...] = ()
    """One entry a worker."""
    peak_gpu_memory_bytes: tuple[int, ...] = ()
    metric_name: str = ""
    metric: float | None = None
    """The last value that the script printed."""
    figures: Mapping[str, float] = field(default_factory=dict)
    """What else a script prints as a figure of its own, by name; micro-benchmarks do."""
    energy: tuple[DeviceEnergy, ...] = ()
    power: Power | None = None

    @property
    def time_s(self) -> float | None:
        """The time by which runs are compared: without start-up where that could be told apart."""
        return self.total_s if self.total_s is not None else self.wall_s

    @property
    def samples_per_s(self) -> float | None:
        if not self.samples or not self.train_s:  # those that come from no loader are not counted
            return None
        return self.samples / self.train_s

    def energy_j(self, *, idle: bool = False) -> float | None:
        """Energy of processors and GPUs, with or without the GPUs that were idle.

        Memory is listed by device but not added: published figures leave it out, and many
        machines cannot measure it.
        """
        counted = [one for one in self.energy if one.part != "memory" and (one.used or idle)]
        return sum(one.energy_j for one in counted) if counted else None

    def edp_js(self, *, idle: bool = False) -> float | None:
        """Energy times delay."""
        energy_j, time_s = self.energy_j(idle=idle), self.wall_s or self.total_s
        return None if energy_j is None or time_s is None else energy_j * time_s

    def time_to_s(self, target: float, *, higher_is_better: bool = True) -> float | None:
        """Training and validation time until an epoch reached the target; None if none did."""
        passed_s = 0.0
        for epoch in self.epochs:
            passed_s += epoch.train_s + (epoch.validation_s or 0.0)
            if epoch.metric is not None and (
                epoch.metric >= target if higher_is_better else epoch.metric <= target
            ):
                return passed_s
        return None

    def as_data(self) -> dict[str, Any]:
        """JSON-ready data."""
        return asdict(self)


def from_data(data: Mapping[str, Any]) -> Result:
    """The result that `as_data` wrote, of this or an older version."""
    values = dict(data)
    values["epochs"] = tuple(Epoch(**one) for one in values.get("epochs", ()))
    values["energy"] = tuple(DeviceEnergy(**one) for one in values.get("energy", ()))
    for name in ("peak_memory_bytes", "peak_gpu_memory_bytes"):
        values[name] = tuple(values.get(name, ()))
    power = values.get("power")
    if power is not None:
        devices = {name: tuple(series) for name, series in power["devices"].items()}
        values["power"] = Power(interval_s=power["interval_s"], devices=devices)
    return Result(**values)
