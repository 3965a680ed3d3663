"""Energy meters: what this machine has of them, read once however many workers there are."""

from pathlib import Path

from trainera.bench.energy.base import Counter, Meters, NoMeter
from trainera.bench.energy.nvml import open_nvml
from trainera.bench.energy.rapl import open_rapl

__all__ = ["Counter", "Meters", "NoMeter", "find_meters"]


def find_meters(sysfs: Path = Path("/sys"), nvml: object | None = None) -> Meters:
    """All counters of this machine, and why there are no more of them."""
    return Meters.of(open_rapl(sysfs), open_nvml(nvml))
