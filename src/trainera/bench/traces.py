"""Power traces as sauna writes them: a line of device names, then a row of watts every 500 ms."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from trainera.errors import UserError
from trainera.results import DeviceEnergy, Part, Power

INTERVAL_S = 0.5

_PARTS: tuple[tuple[re.Pattern[str], Part], ...] = (
    (re.compile(r"ram|dram|mem", re.IGNORECASE), "memory"),
    (re.compile(r"nvd|gpu|cuda", re.IGNORECASE), "gpu"),
    (re.compile(r"pkg|package|cpu|core|socket", re.IGNORECASE), "cpu"),
)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """Watts of every device, one row an interval."""

    interval_s: float
    devices: dict[str, tuple[float, ...]]

    @property
    def duration_s(self) -> float:
        return self.interval_s * max((len(row) for row in self.devices.values()), default=0)

    def energies(self, used_gpus: Collection[int] | None = None) -> tuple[DeviceEnergy, ...]:
        """Joules of every device; `used_gpus` are the GPUs that took part, None: all did."""
        return tuple(
            DeviceEnergy(
                device=name,
                part=part_of(name),
                energy_j=sum(watts) * self.interval_s,
                source="measured",
                used=part_of(name) != "gpu" or used_gpus is None or _number(name) in used_gpus,
            )
            for name, watts in self.devices.items()
        )

    def thinned(self, rows: int = 600) -> Power:
        """At most so many rows, each the mean of those that it stands for: enough for a chart."""
        length = max((len(row) for row in self.devices.values()), default=0)
        step = max(1, -(-length // rows))
        return Power(
            interval_s=self.interval_s * step,
            devices={
                name: tuple(
                    sum(watts[start : start + step]) / len(watts[start : start + step])
                    for start in range(0, len(watts), step)
                )
                for name, watts in self.devices.items()
            },
        )


def part_of(device: str) -> Part:
    """What a column measures, by its name."""
    for pattern, part in _PARTS:
        if pattern.search(device):
            return part
    raise UserError(
        f"column '{device}' of a power trace: neither a processor, a memory nor a GPU by its name "
        "— call it for example core_0_pkg, core_0_ram or nvd_0"
    )


def read_trace(path: Path, interval_s: float = INTERVAL_S) -> Trace:
    """Reads a trace; a last row that was cut off while it was written is left out."""
    lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
    if not lines:
        raise UserError(f"{path}: an empty power trace")
    names, rows = [name.replace("-", "_") for name in lines[0]], lines[1:]
    for name in names:
        part_of(name)
    if rows and len(rows[-1]) < len(names):
        rows.pop()
    columns: list[list[float]] = [[] for _ in names]
    for number, row in enumerate(rows, start=2):
        if len(row) != len(names):
            raise UserError(f"{path}:{number}:1: {len(row)} values for {len(names)} devices")
        for column, value in zip(columns, row, strict=True):
            try:
                column.append(float(value))
            except ValueError:
                raise UserError(f"{path}:{number}:1: '{value}' is not a number of watts") from None
    return Trace(
        interval_s=interval_s,
        devices={name: tuple(column) for name, column in zip(names, columns, strict=True)},
    )


def _number(device: str) -> int:
    found = re.search(r"\d+", device)
    return int(found[0]) if found else 0
