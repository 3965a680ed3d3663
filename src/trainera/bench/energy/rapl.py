"""RAPL: the energy counters of Intel and AMD processors.

The kernel shows both makers' counters under ``powercap/intel-rapl:N``, one zone a package, with
``dram`` as a zone below it. The other zones below (core, uncore) are part of the package and
``psys`` holds all packages: adding them would count twice. So would ``intel-rapl-mmio``, another
way to the same counters. Older AMD kernels have ``amd_energy`` under hwmon instead.
"""

from collections.abc import Sequence
from pathlib import Path

from trainera.bench.energy.base import Counter, Gone, NoMeter
from trainera.results import Part

_NAME = "RAPL (processor energy)"
_PERMIT = "sudo chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj"
_MICRO = 1e-6


class FileCounter:
    """A file with microjoules that starts again from 0 after its greatest value."""

    gpu: int | None = None

    def __init__(self, device: str, part: Part, file: Path, range_uj: int | None) -> None:
        self.device = device
        self.part = part
        self._file = file
        self._range_uj = range_uj
        self._total_uj = 0
        self._last_uj = int(file.read_text())

    def read_j(self, now_s: float) -> float:
        try:
            now_uj = int(self._file.read_text())
        except (OSError, ValueError) as error:
            raise Gone(f"{self.device} cannot be read any more") from error
        step_uj = now_uj - self._last_uj
        if step_uj < 0:
            if self._range_uj is None:
                raise Gone(f"{self.device} began again from 0")
            step_uj += self._range_uj
        self._total_uj += step_uj
        self._last_uj = now_uj
        return self._total_uj * _MICRO


def open_rapl(sysfs: Path) -> Sequence[Counter] | NoMeter:
    """The counters of all packages and their memory."""
    zones = sorted((sysfs / "class" / "powercap").glob("intel-rapl:*"))
    counters: list[Counter] = []
    trouble = "not on this machine"
    for zone in zones:
        try:
            name = (zone / "name").read_text().strip()
            part = _part(name)
            if part is None:
                continue
            package = _package(zone)
            device = package if part == "cpu" else f"{package} memory"
            range_uj = int((zone / "max_energy_range_uj").read_text())
            counters.append(FileCounter(device, part, zone / "energy_uj", range_uj))
        except PermissionError:
            trouble = f"here, but not readable: {_PERMIT}"
        except (OSError, ValueError) as error:
            trouble = f"{zone.name} cannot be read ({error})"
    counters = counters or _amd_energy(sysfs)
    return counters or NoMeter(name=_NAME, reason=trouble)


def _amd_energy(sysfs: Path) -> list[Counter]:
    """The sockets of the driver that AMD had before its counters came to powercap."""
    counters: list[Counter] = []
    for folder in sorted((sysfs / "class" / "hwmon").glob("hwmon*")):
        try:
            if (folder / "name").read_text().strip() != "amd_energy":
                continue
            for label in sorted(folder.glob("energy*_label")):
                name = label.read_text().strip()
                if name.startswith("Esocket"):
                    file = folder / label.name.replace("_label", "_input")
                    number = name.removeprefix("Esocket")
                    counters.append(FileCounter(f"package-{number}", "cpu", file, None))
        except (OSError, ValueError):
            continue
    return counters


def _part(name: str) -> Part | None:
    if name.startswith("package"):
        return "cpu"
    return "memory" if name == "dram" else None


def _package(zone: Path) -> str:
    """The name of the package that a zone is or belongs to; dies of one package share it."""
    top = zone.parent / ":".join(zone.name.split(":")[:2])
    return (top / "name").read_text().strip()
