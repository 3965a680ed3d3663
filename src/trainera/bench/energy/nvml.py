"""NVML: the energy of NVIDIA's GPUs, through the library that comes with the driver."""

import ctypes
from collections.abc import Sequence
from typing import Any

from trainera.bench.energy.base import Counter, Gone, NoMeter
from trainera.results import Part

_NAME = "NVML (GPU energy)"
_LIBRARY = "libnvidia-ml.so.1"
_MILLI = 1e-3


class EnergyCounter:
    """A GPU that counts its energy itself (Volta and later)."""

    part: Part = "gpu"

    def __init__(self, library: Any, gpu: int, handle: Any) -> None:
        self.device = f"gpu-{gpu}"
        self.gpu: int | None = gpu
        self._library = library
        self._handle = handle
        self._first_mj = self._read_mj()

    def _read_mj(self) -> int:
        value = ctypes.c_ulonglong()
        call = self._library.nvmlDeviceGetTotalEnergyConsumption
        if call(self._handle, ctypes.byref(value)) != 0:
            raise Gone(f"{self.device} does not answer any more")
        return value.value

    def read_j(self, now_s: float) -> float:
        return (self._read_mj() - self._first_mj) * _MILLI


class PowerCounter:
    """A GPU that tells its power only: added up over the time between two looks (trapezoids)."""

    part: Part = "gpu"

    def __init__(self, library: Any, gpu: int, handle: Any) -> None:
        self.device = f"gpu-{gpu}"
        self.gpu: int | None = gpu
        self._library = library
        self._handle = handle
        self._last: tuple[float, float] | None = None
        self._total_j = 0.0
        self._read_w()

    def _read_w(self) -> float:
        value = ctypes.c_uint()
        if self._library.nvmlDeviceGetPowerUsage(self._handle, ctypes.byref(value)) != 0:
            raise Gone(f"{self.device} does not answer any more")
        return value.value * _MILLI

    def read_j(self, now_s: float) -> float:
        power_w = self._read_w()
        if self._last is not None:
            last_s, last_w = self._last
            self._total_j += (now_s - last_s) * (power_w + last_w) / 2
        self._last = (now_s, power_w)
        return self._total_j


def open_nvml(library: Any | None = None) -> Sequence[Counter] | NoMeter:
    """A counter for each GPU; `library` stands in for NVIDIA's in tests."""
    if library is None:
        try:
            library = ctypes.CDLL(_LIBRARY)
        except OSError:
            return NoMeter(name=_NAME, reason="not here; it comes with NVIDIA's driver")
    count = ctypes.c_uint()
    if library.nvmlInit_v2() != 0 or library.nvmlDeviceGetCount_v2(ctypes.byref(count)) != 0:
        return NoMeter(name=_NAME, reason="here, but the driver does not answer")
    counters: list[Counter] = []
    for gpu in range(count.value):
        handle = ctypes.c_void_p()
        if library.nvmlDeviceGetHandleByIndex_v2(gpu, ctypes.byref(handle)) != 0:
            continue
        for kind in (EnergyCounter, PowerCounter):
            try:
                counters.append(kind(library, gpu, handle))
                break
            except Gone:
                continue
    return counters or NoMeter(name=_NAME, reason="no GPU tells its energy or its power")
