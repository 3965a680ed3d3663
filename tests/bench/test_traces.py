"""Power traces: one row every 500 ms, a column a device."""

from pathlib import Path

import pytest

from trainera.bench.traces import read_trace
from trainera.errors import UserError


def trace(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "energy.dat"
    path.write_text(text)
    return path


def test_energy_is_power_times_interval(tmp_path: Path) -> None:
    path = trace(tmp_path, "core-0-pkg core-0-ram nvd-0 nvd-1\n10 1 100 16\n20 3  50 16\n")
    read = read_trace(path)
    assert read.duration_s == 1.0
    assert [(one.part, one.energy_j, one.used) for one in read.energies([1])] == [
        ("cpu", 15.0, True),
        ("memory", 2.0, True),
        ("gpu", 75.0, False),
        ("gpu", 16.0, True),
    ]


def test_a_row_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    assert read_trace(trace(tmp_path, "pkg nvd_0\n1 2\n3 4\n5")).duration_s == 1.0


def test_thinning_keeps_the_energy(tmp_path: Path) -> None:
    rows = "\n".join(str(number) for number in range(100))
    read = read_trace(trace(tmp_path, f"pkg\n{rows}\n"))
    thin = read.thinned(10)
    assert len(thin.devices["pkg"]) == 10
    assert sum(thin.devices["pkg"]) * thin.interval_s == pytest.approx(read.energies()[0].energy_j)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "an empty power trace"),
        ("fan_0\n1\n", "column 'fan_0'"),
        ("pkg nvd_0\n1\n1 2\n", r"energy.dat:2:1: 1 values for 2 devices"),
        ("pkg\nwarm\n1\n", r"energy.dat:2:1: 'warm' is not a number of watts"),
    ],
)
def test_what_is_no_trace(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        read_trace(trace(tmp_path, text))
