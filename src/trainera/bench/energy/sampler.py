"""Reads every counter of the machine at a steady pace while a run is under way.

One sampler a machine, in the process that started the run: however many workers share a device, it
is counted once.
"""

import threading
import time
from collections.abc import Collection
from itertools import pairwise
from types import TracebackType

from trainera.bench.energy.base import Gone, Meters
from trainera.results import DeviceEnergy, Power

INTERVAL_S = 0.5


class Sampler:
    """``with Sampler(meters) as sampler: run()``, then ask for energies and power."""

    def __init__(self, meters: Meters, interval_s: float = INTERVAL_S) -> None:
        self._meters = meters
        self._interval_s = interval_s
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._keep_reading, daemon=True)
        self._readings: dict[str, list[float]] = {one.device: [] for one in meters.counters}
        self.gone: dict[str, str] = {}
        """Devices that vanished, with the reason: their energy is not known."""
        self.cost_s = 0.0
        """CPU time of the sampler itself."""

    def __enter__(self) -> "Sampler":
        self._read()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join()
        self._read()

    def _keep_reading(self) -> None:
        due_s = time.monotonic() + self._interval_s
        while not self._stop.wait(max(0.0, due_s - time.monotonic())):
            started_s = time.thread_time()
            self._read()
            self.cost_s += time.thread_time() - started_s
            due_s += self._interval_s

    def _read(self) -> None:
        now_s = time.monotonic()
        for counter in self._meters.counters:
            if counter.device not in self.gone:
                try:
                    self._readings[counter.device].append(counter.read_j(now_s))
                except Gone as gone:
                    self.gone[counter.device] = str(gone)

    def energies(self, used_gpus: Collection[int] = ()) -> tuple[DeviceEnergy, ...]:
        """Joules between start and end, of the devices that were there to the end."""
        return tuple(
            DeviceEnergy(
                device=counter.device,
                part=counter.part,
                energy_j=readings[-1] - readings[0],
                source="measured",
                used=counter.gpu is None or counter.gpu in used_gpus,
            )
            for counter in self._meters.counters
            if counter.device not in self.gone and (readings := self._readings[counter.device])
        )

    def power(self) -> Power | None:
        """Watts over time; the last, shorter interval is left out."""
        devices = {
            name: tuple(
                (after - before) / self._interval_s for before, after in pairwise(readings[:-1])
            )
            for name, readings in self._readings.items()
            if name not in self.gone
        }
        return Power(interval_s=self._interval_s, devices=devices) if devices else None
