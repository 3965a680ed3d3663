"""RAPL and NVML on device trees that are made for the test."""

import ctypes
import os
import time
from pathlib import Path
from typing import Any

import pytest

from trainera.bench.energy import Meters, NoMeter, find_meters
from trainera.bench.energy.base import Gone
from trainera.bench.energy.estimate import estimate
from trainera.bench.energy.nvml import open_nvml
from trainera.bench.energy.rapl import open_rapl
from trainera.bench.energy.sampler import Sampler

RANGE_UJ = 262_143_328_850


def zone(sysfs: Path, name: str, kind: str, energy_uj: int = 0) -> Path:
    folder = sysfs / "class" / "powercap" / name
    folder.mkdir(parents=True)
    (folder / "name").write_text(f"{kind}\n")
    (folder / "max_energy_range_uj").write_text(f"{RANGE_UJ}\n")
    (folder / "energy_uj").write_text(f"{energy_uj}\n")
    return folder / "energy_uj"


class FakeNvml:
    """Answers like NVIDIA's library; a GPU without a counter of energy tells its power."""

    def __init__(self, gpus: list[dict[str, int]], init: int = 0) -> None:
        self.gpus = gpus
        self.init = init

    def nvmlInit_v2(self) -> int:
        return self.init

    def nvmlDeviceGetCount_v2(self, count: Any) -> int:
        count._obj.value = len(self.gpus)
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, gpu: int, handle: Any) -> int:
        handle._obj.value = gpu + 1
        return 0

    def _answer(self, handle: ctypes.c_void_p, name: str, value: Any) -> int:
        assert handle.value is not None
        gpu = self.gpus[handle.value - 1]
        if name not in gpu:
            return 3  # NVML_ERROR_NOT_SUPPORTED
        value._obj.value = gpu[name]
        return 0

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: Any, value: Any) -> int:
        return self._answer(handle, "energy_mj", value)

    def nvmlDeviceGetPowerUsage(self, handle: Any, value: Any) -> int:
        return self._answer(handle, "power_mw", value)


def test_packages_and_their_memory_and_nothing_twice(tmp_path: Path) -> None:
    zone(tmp_path, "intel-rapl:0", "package-0")
    zone(tmp_path, "intel-rapl:0:0", "core")
    zone(tmp_path, "intel-rapl:0:1", "uncore")
    zone(tmp_path, "intel-rapl:0:2", "dram")
    zone(tmp_path, "intel-rapl:1", "package-1")
    zone(tmp_path, "intel-rapl:2", "psys")
    zone(tmp_path, "intel-rapl-mmio:0", "package-0")
    counters = find_meters(tmp_path).counters
    assert [(one.device, one.part) for one in counters] == [
        ("package-0", "cpu"),
        ("package-0 memory", "memory"),
        ("package-1", "cpu"),
    ]


def test_a_counter_that_wraps_around(tmp_path: Path) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0", RANGE_UJ - 3_000_000)
    (counter,) = find_meters(tmp_path).counters
    assert counter.read_j(0.0) == 0.0
    file.write_text("2000000")
    assert counter.read_j(1.0) == pytest.approx(5.0)
    file.write_text("4000000")
    assert counter.read_j(2.0) == pytest.approx(7.0)
    file.write_text("1000000")
    assert counter.read_j(3.0) == pytest.approx(7.0 + RANGE_UJ * 1e-6 - 3.0)


def test_sockets_of_amd_under_hwmon(tmp_path: Path) -> None:
    folder = tmp_path / "class" / "hwmon" / "hwmon3"
    folder.mkdir(parents=True)
    (folder / "name").write_text("amd_energy\n")
    for number, label in ((1, "Ecore000"), (2, "Esocket0"), (3, "Esocket1")):
        (folder / f"energy{number}_label").write_text(f"{label}\n")
        (folder / f"energy{number}_input").write_text("1000000\n")
    first, second = find_meters(tmp_path).counters
    assert (first.device, second.device) == ("package-0", "package-1")
    (folder / "energy2_input").write_text("3500000\n")
    assert (first.read_j(0.0), second.read_j(0.0)) == (pytest.approx(2.5), 0.0)
    (folder / "energy2_input").write_text("10\n")
    with pytest.raises(Gone, match="began again"):
        first.read_j(1.0)


def test_no_counters(tmp_path: Path) -> None:
    found = open_rapl(tmp_path)
    assert isinstance(found, NoMeter)
    assert found.reason == "not on this machine"


def test_missing_permission_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0")
    if os.geteuid() == 0:  # root may read everything, so the refusal has to be played
        read_text = Path.read_text

        def refuse(path: Path, *arguments: Any, **options: Any) -> str:
            if path == file:
                raise PermissionError(13, "Permission denied", str(path))
            return read_text(path, *arguments, **options)

        monkeypatch.setattr(Path, "read_text", refuse)
    else:
        file.chmod(0)
    found = open_rapl(tmp_path)
    assert isinstance(found, NoMeter)
    assert "not readable: sudo chmod a+r" in found.reason


def test_a_device_that_vanishes_is_not_known_and_the_others_are(tmp_path: Path) -> None:
    first = zone(tmp_path, "intel-rapl:0", "package-0")
    second = zone(tmp_path, "intel-rapl:1", "package-1")
    sampler = Sampler(find_meters(tmp_path), interval_s=60.0)
    with sampler:
        first.unlink()
        second.write_text("4000000")
    assert [(one.device, one.energy_j) for one in sampler.energies()] == [("package-1", 4.0)]
    assert sampler.gone == {"package-0": "package-0 cannot be read any more"}


def test_gpus_that_count_and_gpus_that_do_not() -> None:
    library = FakeNvml([{"energy_mj": 5000, "power_mw": 1}, {"power_mw": 100_000}])
    counters = open_nvml(library)
    assert not isinstance(counters, NoMeter)
    counting, telling = counters
    assert (counting.read_j(0.0), telling.read_j(0.0)) == (0.0, 0.0)
    library.gpus[0]["energy_mj"] = 7500
    library.gpus[1]["power_mw"] = 50_000
    assert counting.read_j(2.0) == pytest.approx(2.5)
    assert telling.read_j(2.0) == pytest.approx(150.0)
    library.gpus[0].clear()
    with pytest.raises(Gone, match="gpu-0 does not answer any more"):
        counting.read_j(3.0)


def test_a_driver_that_does_not_answer() -> None:
    found = open_nvml(FakeNvml([], init=9))
    assert isinstance(found, NoMeter)
    assert "does not answer" in found.reason


def test_gpus_that_were_not_used_are_flagged() -> None:
    library = FakeNvml([{"energy_mj": 0}, {"energy_mj": 0}])
    sampler = Sampler(Meters.of(open_nvml(library)), interval_s=60.0)
    with sampler:
        library.gpus[0]["energy_mj"], library.gpus[1]["energy_mj"] = 9000, 1000
    assert [(one.energy_j, one.used) for one in sampler.energies(used_gpus={0})] == [
        (9.0, True),
        (1.0, False),
    ]


def test_a_wrap_between_samples_is_seen_and_power_is_told(tmp_path: Path) -> None:
    file = zone(tmp_path, "intel-rapl:0", "package-0", RANGE_UJ - 1_000_000)
    with Sampler(find_meters(tmp_path), interval_s=0.02) as sampler:
        time.sleep(0.1)
        # At once, as the kernel does it: a file that is written may be seen empty.
        tmp_path.joinpath("new").write_text("1000000")
        tmp_path.joinpath("new").replace(file)
        time.sleep(0.1)
    (energy,) = sampler.energies()
    assert energy.energy_j == pytest.approx(2.0)
    power = sampler.power()
    assert power is not None
    assert max(power.devices["package-0"]) == pytest.approx(2.0 / 0.02)


def test_an_estimate_says_that_it_is_one() -> None:
    (found,) = estimate(cpu_s=10.0, watts_per_core=6.5)
    assert (found.energy_j, found.source) == (65.0, "estimated")
